# SPDX-License-Identifier: GPL-3.0-or-later
# `cmake --install`: program, libraries, headers, package files, schemas and documents, by the
# components that TaPackage makes packages of.

include(CMakePackageConfigHelpers)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/traceanalyze")

# Plugins need the headers alone: their symbols come from the program that loads them.
add_library(traceanalyze_plugin INTERFACE)
set_target_properties(traceanalyze_plugin PROPERTIES EXPORT_NAME plugin)
target_include_directories(traceanalyze_plugin INTERFACE
    "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>"
    "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")

install(TARGETS traceanalyze_cli)
if(TRACEANALYZE_MPI)
  install(TARGETS traceanalyze_mpi COMPONENT mpi)
endif()
install(TARGETS traceanalyze traceanalyze_static traceanalyze_plugin ta_dependencies
        EXPORT traceanalyzeTargets COMPONENT development)
install(EXPORT traceanalyzeTargets NAMESPACE traceanalyze:: DESTINATION "${package_dir}"
        COMPONENT development)
install(DIRECTORY include/traceanalyze DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
        COMPONENT development FILES_MATCHING PATTERN "*.h")

configure_package_config_file(
    cmake/traceanalyzeConfig.cmake.in "${PROJECT_BINARY_DIR}/traceanalyzeConfig.cmake"
    INSTALL_DESTINATION "${package_dir}")
write_basic_package_version_file(
    "${PROJECT_BINARY_DIR}/traceanalyzeConfigVersion.cmake" COMPATIBILITY SameMajorVersion)
install(FILES "${PROJECT_BINARY_DIR}/traceanalyzeConfig.cmake"
              "${PROJECT_BINARY_DIR}/traceanalyzeConfigVersion.cmake"
        DESTINATION "${package_dir}" COMPONENT development)

# The package file finds its prefix from where it lies, so that an installation can be moved.
file(RELATIVE_PATH pc_prefix "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig" "${CMAKE_INSTALL_PREFIX}")
configure_file(cmake/traceanalyze.pc.in "${PROJECT_BINARY_DIR}/traceanalyze.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/traceanalyze.pc"
        DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" COMPONENT development)

install(DIRECTORY schemas/ DESTINATION "${CMAKE_INSTALL_DATADIR}/traceanalyze/schemas" OPTIONAL
        FILES_MATCHING PATTERN "*.json")
install(FILES src/hardware/devices.yaml DESTINATION "${CMAKE_INSTALL_DATADIR}/traceanalyze")
install(DIRECTORY docs DESTINATION "${CMAKE_INSTALL_DOCDIR}" OPTIONAL
        FILES_MATCHING PATTERN "*.md" PATTERN "*.png")
foreach(document IN ITEMS README.md LICENSE CHANGELOG.md)
  install(FILES "${document}" DESTINATION "${CMAKE_INSTALL_DOCDIR}" OPTIONAL)
endforeach()
