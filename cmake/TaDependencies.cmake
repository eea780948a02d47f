# SPDX-License-Identifier: GPL-3.0-or-later
# The libraries everything is built on, as two interface targets.

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(TA_BASE REQUIRED IMPORTED_TARGET jansson>=2.10 zlib gsl>=2.5 libutf8proc)
pkg_check_modules(TA_DRAW REQUIRED IMPORTED_TARGET cairo>=1.14 pangocairo>=1.44)

# What output plugins may use besides <traceanalyze/…>.
add_library(ta_draw INTERFACE)
target_link_libraries(ta_draw INTERFACE PkgConfig::TA_DRAW)

add_library(ta_dependencies INTERFACE)
target_link_libraries(ta_dependencies INTERFACE
    PkgConfig::TA_BASE PkgConfig::TA_DRAW Threads::Threads ${CMAKE_DL_LIBS} m)
