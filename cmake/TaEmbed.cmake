# SPDX-License-Identifier: GPL-3.0-or-later
# Turns files into constant arrays of C.  Run as a script it writes one such array.

# A style sheet or script without indentation, empty lines and comments that have lines of their
# own.  Nothing else changes, so no grammar is needed, as long as no text in quotes goes over
# several lines.
function(ta_strip result text)
  string(REGEX REPLACE "(\n[ \t\n]*/\\*([^*]|\\*+[^*/])*\\*+/[ \t]*)+\n" "\n" text "\n${text}")
  string(REGEX REPLACE "\n[ \t\n]+" "\n" text "${text}")
  string(REGEX REPLACE "`[^`\n]*`" "" rest "${text}")
  if(rest MATCHES "`|\\\\\n")
    message(FATAL_ERROR "${TA_FILE}: A text goes over several lines, so its spaces cannot be told "
                        "from indentation.  Join the parts of it with +.")
  endif()
  string(REGEX REPLACE "^\n" "" text "${text}")
  set(${result} "${text}" PARENT_SCOPE)
endfunction()

if(CMAKE_SCRIPT_MODE_FILE)
  # cmake -DTA_FILE=in -DTA_SYMBOL=name -DTA_OUTPUT=out.c -P TaEmbed.cmake
  if(TA_FILE MATCHES "\\.(css|js)$")
    file(READ "${TA_FILE}" text)
    ta_strip(text "${text}")
    string(HEX "${text}" bytes)
  else()
    file(READ "${TA_FILE}" bytes HEX)
  endif()
  # A string literal, each byte as \xNN: unlike a list of integers it suits a signed char.
  string(REGEX REPLACE "(..)" "\\\\x\\1" text "${bytes}")
  set(more "(\\\\x..)?") # CMake has no {n,m}
  string(REGEX REPLACE "(\\\\x..${more}${more}${more}${more}${more}${more}${more})"
         "    \"\\1\"\n" text "${text}")
  if(text STREQUAL "")
    set(text "    \"\"\n")
  endif()
  get_filename_component(name "${TA_FILE}" NAME)
  file(WRITE "${TA_OUTPUT}"
       "/* Made from ${name}. */\n#include <stddef.h>\n\n"
       "extern const char ${TA_SYMBOL}[];\nextern const size_t ${TA_SYMBOL}_size;\n\n"
       "const char ${TA_SYMBOL}[] =\n${text};\n"
       "const size_t ${TA_SYMBOL}_size = sizeof ${TA_SYMBOL} - 1;\n")
  return()
endif()

set(TA_EMBED_SCRIPT "${CMAKE_CURRENT_LIST_FILE}")

# Adds `const char SYMBOL[]` (with a NUL at its end) and `const size_t SYMBOL_size` to a target.
function(ta_embed target file symbol)
  set(output "${PROJECT_BINARY_DIR}/generated/${symbol}.c")
  add_custom_command(
      OUTPUT "${output}"
      COMMAND "${CMAKE_COMMAND}" "-DTA_FILE=${file}" "-DTA_SYMBOL=${symbol}"
              "-DTA_OUTPUT=${output}" -P "${TA_EMBED_SCRIPT}"
      DEPENDS "${file}" "${TA_EMBED_SCRIPT}"
      VERBATIM)
  target_sources(${target} PRIVATE "${output}")
endfunction()

# Adds a table of texts to a target: `const struct STRUCT TABLE[]` of the header, with a row of
# name and text for each file.  The name is that of the file without the given suffix.
function(ta_embed_table target struct table header suffix)
  set(declarations "")
  set(rows "")
  foreach(file IN LISTS ARGN)
    get_filename_component(name "${file}" NAME)
    string(REGEX REPLACE "${suffix}$" "" name "${name}")
    string(MAKE_C_IDENTIFIER "ta_embed_${struct}_${name}" symbol)
    ta_embed(${target} "${file}" ${symbol})
    string(APPEND declarations "extern const char ${symbol}[];\n")
    string(APPEND rows "    {\"${name}\", ${symbol}},\n")
  endforeach()
  set(output "${PROJECT_BINARY_DIR}/generated/${table}.c")
  file(CONFIGURE OUTPUT "${output}" @ONLY CONTENT
       "#include \"${header}\"\n\n@declarations@
const struct @struct@ @table@[] = {\n@rows@    {NULL, NULL},\n};\n")
  target_sources(${target} PRIVATE "${output}")
endfunction()
