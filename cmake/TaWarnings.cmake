# SPDX-License-Identifier: GPL-3.0-or-later
# Warnings, hardening, sanitizers and reproducible paths, the same for every target of ours.

include(CheckCCompilerFlag)
check_c_compiler_flag(-fcf-protection TA_HAVE_CF_PROTECTION)
check_c_compiler_flag(-fstack-clash-protection TA_HAVE_STACK_CLASH)

# Assertions guard invariants and stay on in every build.
foreach(config IN ITEMS RELEASE RELWITHDEBINFO MINSIZEREL)
  string(REPLACE "-DNDEBUG" "" CMAKE_C_FLAGS_${config} "${CMAKE_C_FLAGS_${config}}")
endforeach()

set(TA_OPTIMIZED "$<OR:$<CONFIG:Release>,$<CONFIG:RelWithDebInfo>,$<CONFIG:MinSizeRel>>")

# Options for compiling; object libraries and tests call this too.
function(ta_compile_options target)
  target_compile_definitions(${target} PRIVATE _GNU_SOURCE)
  target_include_directories(${target} PRIVATE "${TA_MADE_INCLUDE}")
  # Declarations name what they say and leave the rest out.
  target_compile_options(${target} PRIVATE
      -Wall -Wextra -Wno-missing-field-initializers -Wshadow -Wconversion -Wstrict-prototypes -Wvla
      "-ffile-prefix-map=${PROJECT_SOURCE_DIR}=." "-ffile-prefix-map=${PROJECT_BINARY_DIR}=build")
  if(TRACEANALYZE_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
  if(TRACEANALYZE_SANITIZE)
    target_compile_options(${target} PRIVATE
        -fsanitize=${TRACEANALYZE_SANITIZE} -fno-sanitize-recover=all
        -fno-omit-frame-pointer)
  else()
    target_compile_options(${target} PRIVATE
        -fstack-protector-strong
        $<$<BOOL:${TA_HAVE_STACK_CLASH}>:-fstack-clash-protection>
        $<$<BOOL:${TA_HAVE_CF_PROTECTION}>:-fcf-protection>
        $<${TA_OPTIMIZED}:-U_FORTIFY_SOURCE>
        $<${TA_OPTIMIZED}:-D_FORTIFY_SOURCE=3>)
  endif()
  if(TRACEANALYZE_COVERAGE)
    # Atomic: threads count the same lines.
    target_compile_options(${target} PRIVATE --coverage -fprofile-update=atomic)
  endif()
  if(TRACEANALYZE_FUZZ)
    target_compile_options(${target} PRIVATE -fsanitize=fuzzer-no-link)
  endif()
endfunction()

# Options for linking libraries and programs.
function(ta_link_options target)
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "STATIC_LIBRARY")
    return()
  endif()
  target_link_options(${target} PRIVATE -Wl,-z,relro,-z,now)
  if(type STREQUAL "EXECUTABLE")
    target_link_options(${target} PRIVATE -pie)
  elseif(NOT TRACEANALYZE_SANITIZE AND NOT TRACEANALYZE_FUZZ)
    target_link_options(${target} PRIVATE -Wl,-z,defs)
  endif()
  if(TRACEANALYZE_SANITIZE)
    target_link_options(${target} PRIVATE -fsanitize=${TRACEANALYZE_SANITIZE})
  endif()
  if(TRACEANALYZE_COVERAGE)
    target_link_options(${target} PRIVATE --coverage)
  endif()
endfunction()
