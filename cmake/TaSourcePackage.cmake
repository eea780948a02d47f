# SPDX-License-Identifier: GPL-3.0-or-later
# What the archive of the sources leaves out.  cpack includes this file before it packs, so that it
# looks at the tree as it is then: build folders are told by what is in them, not by their names.

if(NOT CPACK_INSTALLED_DIRECTORIES OR CPACK_INSTALL_CMAKE_PROJECTS)
  return() # a package of what was built
endif()

list(GET CPACK_INSTALLED_DIRECTORIES 0 source)
string(REGEX REPLACE "([][+.*()^$?|\\\\])" "\\\\\\1" source_regex "${source}")

# Leaves out what is below the folder at `path`, or the file.
function(leave_out path)
  string(REGEX REPLACE "/$" "" path "${path}")
  string(REGEX REPLACE "([][+.*()^$?|\\\\])" "\\\\\\1" path "${path}")
  set(CPACK_IGNORE_FILES "${CPACK_IGNORE_FILES};^${path}(/|$)" PARENT_SCOPE)
endfunction()

leave_out("${source}/.git") # a folder, or in a worktree a file

file(GLOB_RECURSE caches LIST_DIRECTORIES false "${source}/*/CMakeCache.txt")
foreach(cache IN LISTS caches)
  get_filename_component(folder "${cache}" DIRECTORY)
  leave_out("${folder}")
endforeach()

foreach(pattern IN ITEMS "build(-[^/]*)?/" "out/" "traceanalyze-[^/]*/" "(.*/)?__pycache__/")
  list(APPEND CPACK_IGNORE_FILES "^${source_regex}/${pattern}")
endforeach()

# Where git knows the tree it also knows what else is no source.
find_program(CPACK_GIT git)
if(CPACK_GIT AND EXISTS "${source}/.git")
  execute_process(
      COMMAND "${CPACK_GIT}" -c core.quotepath=off ls-files --others --ignored --exclude-standard
              --directory
      WORKING_DIRECTORY "${source}" OUTPUT_VARIABLE ignored ERROR_QUIET)
  string(REGEX MATCHALL "[^\n]+" ignored "${ignored}")
  foreach(path IN LISTS ignored)
    leave_out("${source}/${path}")
  endforeach()
endif()
