# SPDX-License-Identifier: GPL-3.0-or-later
# The libraries everything is built on, as two interface targets.  The names of their packages also
# stand in what an installation says of itself (TaInstall.cmake).

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
set(TA_BASE_PACKAGES "jansson>=2.10" zlib "gsl>=2.5" libutf8proc yaml-0.1)
set(TA_DRAW_PACKAGES "cairo>=1.14" "pangocairo>=1.44" fontconfig)
set(TA_ISAL_PACKAGES "")
pkg_check_modules(TA_BASE REQUIRED IMPORTED_TARGET ${TA_BASE_PACKAGES})
pkg_check_modules(TA_DRAW REQUIRED IMPORTED_TARGET ${TA_DRAW_PACKAGES})

# What output plugins may use besides <traceanalyze/…>.
add_library(ta_draw INTERFACE)
target_link_libraries(ta_draw INTERFACE PkgConfig::TA_DRAW)

add_library(ta_dependencies INTERFACE)
target_link_libraries(ta_dependencies INTERFACE
    PkgConfig::TA_BASE PkgConfig::TA_DRAW Threads::Threads ${CMAKE_DL_LIBS} m)

# ---- optional ------------------------------------------------------------------------------

option(TRACEANALYZE_ISAL "Inflate and deflate with ISA-L when it is there (zlib is always)" ON)
set(TA_PRIVATE_LIBRARIES m ${CMAKE_DL_LIBS}) # those without a package file
if(TRACEANALYZE_ISAL)
  pkg_check_modules(TA_ISAL IMPORTED_TARGET "libisal>=2.30")
  if(TA_ISAL_FOUND)
    set(TA_ISAL_PACKAGES "libisal>=2.30")
    set(isal PkgConfig::TA_ISAL)
  else()
    # Builds of its own Makefile.unx install no package file.
    find_path(TA_ISAL_INCLUDE_DIRS isa-l.h)
    find_library(TA_ISAL_LIBRARY isal)
    if(TA_ISAL_LIBRARY AND TA_ISAL_INCLUDE_DIRS)
      list(APPEND TA_PRIVATE_LIBRARIES isal)
      set(isal "$<BUILD_INTERFACE:${TA_ISAL_LIBRARY}>" "$<INSTALL_INTERFACE:isal>")
    endif()
  endif()
  if(isal)
    target_link_libraries(ta_dependencies INTERFACE ${isal})
    set_source_files_properties(
        "${PROJECT_SOURCE_DIR}/src/read/inflate.c" "${PROJECT_SOURCE_DIR}/src/read/inflate_isal.c"
        "${PROJECT_SOURCE_DIR}/src/base/deflate.c"
        "${PROJECT_SOURCE_DIR}/src/cli/cmd_help.c"
        PROPERTIES COMPILE_DEFINITIONS TA_HAVE_ISAL INCLUDE_DIRECTORIES "${TA_ISAL_INCLUDE_DIRS}")
  endif()
endif()
