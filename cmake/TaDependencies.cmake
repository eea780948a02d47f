# SPDX-License-Identifier: GPL-3.0-or-later
# The libraries everything is built on, as two interface targets.

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(TA_BASE REQUIRED IMPORTED_TARGET jansson>=2.10 zlib gsl>=2.5 libutf8proc
                  yaml-0.1)
pkg_check_modules(TA_DRAW REQUIRED IMPORTED_TARGET cairo>=1.14 pangocairo>=1.44 fontconfig)

# What output plugins may use besides <traceanalyze/…>.
add_library(ta_draw INTERFACE)
target_link_libraries(ta_draw INTERFACE PkgConfig::TA_DRAW)

add_library(ta_dependencies INTERFACE)
target_link_libraries(ta_dependencies INTERFACE
    PkgConfig::TA_BASE PkgConfig::TA_DRAW Threads::Threads ${CMAKE_DL_LIBS} m)

# ---- optional ------------------------------------------------------------------------------

option(TRACEANALYZE_ISAL "Inflate and deflate with ISA-L when it is there (zlib is always)" ON)
if(TRACEANALYZE_ISAL)
  pkg_check_modules(TA_ISAL libisal>=2.30)
  if(NOT TA_ISAL_FOUND)
    # Builds of its own Makefile.unx install no package file.
    find_path(TA_ISAL_INCLUDE_DIRS isa-l.h)
    find_library(TA_ISAL_LINK_LIBRARIES isal)
  endif()
  if(TA_ISAL_LINK_LIBRARIES AND (TA_ISAL_FOUND OR TA_ISAL_INCLUDE_DIRS))
    target_link_libraries(ta_dependencies INTERFACE ${TA_ISAL_LINK_LIBRARIES})
    set_source_files_properties(
        "${PROJECT_SOURCE_DIR}/src/read/inflate.c" "${PROJECT_SOURCE_DIR}/src/read/inflate_isal.c"
        "${PROJECT_SOURCE_DIR}/src/render/deflate_part.c"
        "${PROJECT_SOURCE_DIR}/src/cli/cmd_help.c"
        PROPERTIES COMPILE_DEFINITIONS TA_HAVE_ISAL INCLUDE_DIRECTORIES "${TA_ISAL_INCLUDE_DIRS}")
  endif()
endif()
