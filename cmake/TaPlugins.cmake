# SPDX-License-Identifier: GPL-3.0-or-later
# Finds the built-in plugins: adding one means adding plugins/<kind>/<id>.c or a folder of that
# name with *.c files; there is no list to keep.
#
# plugins/lib/*.c is what they share ("lib/gaps.h").  They also see the headers of src/, of which
# docs/ARCHITECTURE.md says which kind of plugin may use which.  No loaded plugin sees either.
#
# Text files (*.css, *.js) in the folder of a plugin are embedded: report.css of the plugin html
# is `const char ta_embed_html_report_css[]`, declared in the generated header embedded_html.h.

# Compiles one plugin, or what they share.
function(ta_plugin_objects target)
  add_library(${target} OBJECT ${ARGN})
  ta_compile_options(${target})
  target_compile_definitions(${target} PRIVATE TA_PLUGIN_BUILTIN)
  target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}/include"
                                               "${PROJECT_SOURCE_DIR}/src"
                                               "${PROJECT_SOURCE_DIR}/plugins")
  target_link_libraries(${target} PRIVATE PkgConfig::TA_BASE)
  set_property(GLOBAL APPEND PROPERTY TA_LIBRARY_OBJECTS "$<TARGET_OBJECTS:${target}>")
endfunction()

function(ta_builtin_plugin kind id)
  ta_plugin_objects("ta_plugin_${kind}_${id}" ${ARGN})
  if(kind STREQUAL "output")
    target_link_libraries("ta_plugin_${kind}_${id}" PRIVATE ta_draw)
  endif()
endfunction()

function(ta_embed_plugin_texts kind id folder)
  file(GLOB texts CONFIGURE_DEPENDS "${folder}/*.css" "${folder}/*.js")
  if(NOT texts)
    return()
  endif()
  set(target "ta_plugin_${kind}_${id}")
  set(declarations "")
  foreach(text IN LISTS texts)
    get_filename_component(name "${text}" NAME)
    string(MAKE_C_IDENTIFIER "ta_embed_${id}_${name}" symbol)
    ta_embed(${target} "${text}" ${symbol})
    string(APPEND declarations
           "extern const char ${symbol}[];\nextern const size_t ${symbol}_size;\n")
  endforeach()
  set(folder_out "${PROJECT_BINARY_DIR}/generated/${kind}_${id}")
  file(CONFIGURE OUTPUT "${folder_out}/embedded_${id}.h" @ONLY CONTENT
       "/* Texts of the plugin ${id}. */\n#include <stddef.h>\n\n@declarations@")
  target_include_directories(${target} PRIVATE "${folder_out}")
endfunction()

# Makes an object library of each plugin and adds the list of them (builtin.c) to `core`.
function(ta_builtin_plugins core)
  set_property(GLOBAL APPEND PROPERTY TA_LIBRARY_OBJECTS "$<TARGET_OBJECTS:${core}>")
  file(GLOB shared CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/plugins/lib/*.c")
  ta_plugin_objects(ta_plugin_lib ${shared})
  set(TA_BUILTIN_DECLARATIONS "")
  set(TA_BUILTIN_ENTRIES "")
  foreach(kind IN ITEMS input log analysis advice headline output)
    set(root "${PROJECT_SOURCE_DIR}/plugins/${kind}")
    file(GLOB sources CONFIGURE_DEPENDS "${root}/*.c" "${root}/*/*.c")
    set(ids "")
    foreach(source IN LISTS sources)
      file(RELATIVE_PATH path "${root}" "${source}")
      string(REGEX REPLACE "(/.*|\\.c)$" "" id "${path}")
      list(APPEND ids "${id}")
      list(APPEND sources_of_${kind}_${id} "${source}")
    endforeach()
    list(REMOVE_DUPLICATES ids)
    foreach(id IN LISTS ids)
      ta_builtin_plugin(${kind} ${id} ${sources_of_${kind}_${id}})
      ta_embed_plugin_texts(${kind} ${id} "${root}/${id}")
      string(APPEND TA_BUILTIN_DECLARATIONS
             "extern const struct ta_plugin ta_builtin_${kind}_${id};\n")
      string(APPEND TA_BUILTIN_ENTRIES "    &ta_builtin_${kind}_${id},\n")
    endforeach()
  endforeach()
  set(list "${PROJECT_BINARY_DIR}/generated/builtin.c")
  configure_file("${PROJECT_SOURCE_DIR}/src/plugin/builtin.c.in" "${list}" @ONLY)
  target_sources(${core} PRIVATE "${list}")
endfunction()
