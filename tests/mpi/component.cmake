# SPDX-License-Identifier: GPL-3.0-or-later
# Installs the component of MPI by itself and looks at what is there.
cmake_minimum_required(VERSION 3.22)
file(REMOVE_RECURSE "${OUT}")
execute_process(
    COMMAND "${CMAKE_COMMAND}" --install "${BUILD}" --component mpi --prefix "${OUT}"
    OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
file(GLOB_RECURSE found RELATIVE "${OUT}" "${OUT}/*")
set(others ${found})
list(FILTER others EXCLUDE REGEX "/traceanalyze-mpi(\\.1)?$")
if(others OR NOT "bin/traceanalyze-mpi" IN_LIST found)
  message(FATAL_ERROR "The component of MPI is made of: ${found}")
endif()
execute_process(COMMAND "${OUT}/bin/traceanalyze-mpi" --version
    OUTPUT_VARIABLE version COMMAND_ERROR_IS_FATAL ANY)
if(NOT version MATCHES "traceanalyze")
  message(FATAL_ERROR "Its version is: ${version}")
endif()
