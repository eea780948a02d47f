# SPDX-License-Identifier: GPL-3.0-or-later
# Makes <traceanalyze/headers.h>: a hash of all public headers, which a plugin and the program that
# loads it must have in common.

file(GLOB headers CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/include/traceanalyze/*.h")
list(SORT headers)
set(hashes "")
foreach(header IN LISTS headers)
  file(SHA256 "${header}" hash)
  string(APPEND hashes "${hash}\n")
endforeach()
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${headers})
string(SHA256 hash "${hashes}")
string(SUBSTRING "${hash}" 0 16 TA_HEADERS_HASH)

# Where the made header lies, for everything that is built here.
set(TA_MADE_INCLUDE "${PROJECT_BINARY_DIR}/include")
configure_file(cmake/headers.h.in "${TA_MADE_INCLUDE}/traceanalyze/headers.h" @ONLY)
