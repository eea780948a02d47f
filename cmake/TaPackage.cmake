# SPDX-License-Identifier: GPL-3.0-or-later
# `cpack -G DEB`: a package of the program, one of what plugins and other programs are built with,
# and, with TRACEANALYZE_MPI, one for the processes of an MPI job.
# `cpack --config CPackSourceConfig.cmake`: an archive of the sources (TaSourcePackage.cmake).

set(CPACK_PACKAGE_NAME traceanalyze)
set(CPACK_PACKAGE_VENDOR "the traceanalyze authors")
set(CPACK_PACKAGE_CONTACT "${CPACK_PACKAGE_VENDOR}")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_RESOURCE_FILE_LICENSE "${PROJECT_SOURCE_DIR}/LICENSE")
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL program development)
if(TRACEANALYZE_MPI)
  list(APPEND CPACK_COMPONENTS_ALL mpi)
endif()

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME traceanalyze)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libtraceanalyze-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_MPI_PACKAGE_NAME traceanalyze-mpi)
set(CPACK_COMPONENT_MPI_DEPENDS program) # its manual pages, schemas and devices

# Packages of the libraries that the static library and traceanalyze.pc name.
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS
    "libjansson-dev, zlib1g-dev, libgsl-dev, libutf8proc-dev, libyaml-dev, libcairo2-dev, \
libpango1.0-dev, libfontconfig-dev")
if(TA_ISAL_PACKAGES)
  string(APPEND CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS ", libisal-dev")
endif()
set(CPACK_DEBIAN_PROGRAM_PACKAGE_RECOMMENDS "fonts-dejavu-core") # charts and PDF need a font

set(CPACK_SOURCE_GENERATOR TGZ)
set(CPACK_SOURCE_IGNORE_FILES "~$;\\\\.sw[op]$")
set(CPACK_PROJECT_CONFIG_FILE "${PROJECT_SOURCE_DIR}/cmake/TaSourcePackage.cmake")

include(CPack)
cpack_add_component(program DISPLAY_NAME "Program"
    DESCRIPTION "Offline analysis of traces and dumps of profilers")
cpack_add_component(development DISPLAY_NAME "Library and headers"
    DESCRIPTION "What plugins, and programs that use the library, are built with")
cpack_add_component(mpi DISPLAY_NAME "Program for MPI jobs"
    DESCRIPTION "traceanalyze for the processes of an MPI job")
