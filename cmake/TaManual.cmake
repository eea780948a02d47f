# SPDX-License-Identifier: GPL-3.0-or-later
# Manual pages and completions, which the program writes by itself.  Run as a script it has a
# program write them.

if(CMAKE_SCRIPT_MODE_FILE)
  # cmake "-DTA_PROGRAM=emulator;program" -DTA_OUTPUT=folder -P TaManual.cmake
  function(write path)
    execute_process(COMMAND ${TA_PROGRAM} ${ARGN}
                    OUTPUT_FILE "${TA_OUTPUT}/${path}" RESULT_VARIABLE code)
    if(code)
      list(JOIN ARGN " " call)
      message(FATAL_ERROR "traceanalyze ${call}: ${code}")
    endif()
  endfunction()

  execute_process(COMMAND ${TA_PROGRAM} help --list OUTPUT_VARIABLE pages RESULT_VARIABLE code)
  if(code)
    message(FATAL_ERROR "traceanalyze help --list: ${code}")
  endif()
  # Pages of an earlier build that are no more must not be installed.
  file(REMOVE_RECURSE "${TA_OUTPUT}/man" "${TA_OUTPUT}/completions")
  file(MAKE_DIRECTORY "${TA_OUTPUT}/man")
  string(REGEX MATCHALL "[^\n]+" pages "${pages}")
  foreach(page IN LISTS pages)
    write("man/${page}" help --man ${page})
  endforeach()
  foreach(script IN ITEMS bash/traceanalyze zsh/_traceanalyze fish/traceanalyze.fish)
    get_filename_component(shell "${script}" DIRECTORY)
    file(MAKE_DIRECTORY "${TA_OUTPUT}/completions/${shell}")
    write("completions/${script}" completion ${shell})
  endforeach()
  return()
endif()

set(TRACEANALYZE_NATIVE "" CACHE FILEPATH
    "A traceanalyze of the same version that runs here, when cross-compiling")

set(program "$<TARGET_FILE:traceanalyze_cli>")
if(CMAKE_CROSSCOMPILING)
  set(program ${CMAKE_CROSSCOMPILING_EMULATOR} "${program}")
endif()
if(TRACEANALYZE_NATIVE)
  set(program "${TRACEANALYZE_NATIVE}")
elseif(CMAKE_CROSSCOMPILING AND NOT CMAKE_CROSSCOMPILING_EMULATOR)
  message(WARNING "No manual pages and completions: traceanalyze writes them, and it does not run "
                  "here. -DTRACEANALYZE_NATIVE=PATH names one that does.")
  return()
endif()

set(stamp "${PROJECT_BINARY_DIR}/generated/manual.stamp")
add_custom_command(
    OUTPUT "${stamp}"
    COMMAND "${CMAKE_COMMAND}" "-DTA_PROGRAM=${program}" "-DTA_OUTPUT=${PROJECT_BINARY_DIR}"
            -P "${CMAKE_CURRENT_LIST_FILE}"
    COMMAND "${CMAKE_COMMAND}" -E touch "${stamp}"
    DEPENDS traceanalyze_cli "${CMAKE_CURRENT_LIST_FILE}"
    VERBATIM)
add_custom_target(manual ALL DEPENDS "${stamp}")

foreach(section IN ITEMS 1 5 7)
  install(DIRECTORY "${PROJECT_BINARY_DIR}/man/"
          DESTINATION "${CMAKE_INSTALL_MANDIR}/man${section}"
          FILES_MATCHING PATTERN "*.${section}" PATTERN "traceanalyze-mpi.*" EXCLUDE)
endforeach()
if(TRACEANALYZE_MPI)
  install(FILES "${PROJECT_BINARY_DIR}/man/traceanalyze-mpi.1"
          DESTINATION "${CMAKE_INSTALL_MANDIR}/man1" COMPONENT mpi)
endif()
install(FILES "${PROJECT_BINARY_DIR}/completions/bash/traceanalyze"
        DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions")
install(FILES "${PROJECT_BINARY_DIR}/completions/zsh/_traceanalyze"
        DESTINATION "${CMAKE_INSTALL_DATADIR}/zsh/site-functions")
install(FILES "${PROJECT_BINARY_DIR}/completions/fish/traceanalyze.fish"
        DESTINATION "${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d")
