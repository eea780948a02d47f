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
    "$<BUILD_INTERFACE:${TA_MADE_INCLUDE}>"
    "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")

install(TARGETS traceanalyze_cli)
if(TRACEANALYZE_MPI)
  install(TARGETS traceanalyze_mpi COMPONENT mpi)
endif()
# The static library is exported apart: it needs all dependencies by name, the others need none.
set_target_properties(ta_dependencies PROPERTIES EXPORT_NAME dependencies)
install(TARGETS traceanalyze traceanalyze_plugin EXPORT traceanalyzeTargets COMPONENT development)
install(TARGETS traceanalyze_static ta_dependencies EXPORT traceanalyzeStaticTargets
        COMPONENT development)
foreach(set IN ITEMS traceanalyzeTargets traceanalyzeStaticTargets)
  install(EXPORT ${set} NAMESPACE traceanalyze:: DESTINATION "${package_dir}"
          COMPONENT development)
endforeach()
install(DIRECTORY include/traceanalyze DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
        COMPONENT development FILES_MATCHING PATTERN "*.h")
install(FILES "${TA_MADE_INCLUDE}/traceanalyze/headers.h"
        DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/traceanalyze" COMPONENT development)

set(TA_NEEDS "")
foreach(group IN ITEMS TA_BASE TA_DRAW TA_ISAL)
  if(${group}_PACKAGES)
    list(JOIN ${group}_PACKAGES " " packages)
    string(APPEND TA_NEEDS "traceanalyze_need(${group} ${packages})\n")
  endif()
endforeach()
configure_package_config_file(
    cmake/traceanalyzeConfig.cmake.in "${PROJECT_BINARY_DIR}/traceanalyzeConfig.cmake"
    INSTALL_DESTINATION "${package_dir}")
write_basic_package_version_file(
    "${PROJECT_BINARY_DIR}/traceanalyzeConfigVersion.cmake" COMPATIBILITY SameMajorVersion)
install(FILES "${PROJECT_BINARY_DIR}/traceanalyzeConfig.cmake"
              "${PROJECT_BINARY_DIR}/traceanalyzeConfigVersion.cmake"
        DESTINATION "${package_dir}" COMPONENT development)

# The package file finds its prefix from where it lies, so that an installation can be moved.
set(pc_dir "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig")
file(RELATIVE_PATH pc_libdir "${pc_dir}" "${CMAKE_INSTALL_FULL_LIBDIR}")
file(RELATIVE_PATH pc_includedir "${pc_dir}" "${CMAKE_INSTALL_FULL_INCLUDEDIR}")
file(RELATIVE_PATH pc_prefix "${pc_dir}" "${CMAKE_INSTALL_PREFIX}")
string(REGEX REPLACE "/$" "" pc_prefix "${pc_prefix}")
string(REGEX REPLACE "/$" "" pc_libdir "${pc_libdir}")
set(pc_packages ${TA_BASE_PACKAGES} ${TA_DRAW_PACKAGES} ${TA_ISAL_PACKAGES})
list(JOIN pc_packages " " pc_packages)
string(REPLACE ">=" " >= " pc_packages "${pc_packages}")
list(TRANSFORM TA_PRIVATE_LIBRARIES PREPEND "-l" OUTPUT_VARIABLE pc_libraries)
list(JOIN pc_libraries " " pc_libraries)
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
