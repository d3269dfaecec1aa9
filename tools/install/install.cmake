# What `cmake --install` writes, and the packages that CPack makes of it: the program with its shipped files, and the
# library with its headers for find_package(ringwright).
include(CMakePackageConfigHelpers)

install(TARGETS ringwright RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program)
# The program finds these relative to itself (core/base/shared_folder.h).
install(DIRECTORY configs/ DESTINATION ${CMAKE_INSTALL_DATADIR}/ringwright/configs COMPONENT program
        FILES_MATCHING PATTERN "*.yaml" PATTERN "*.csv" PATTERN "*.xml" PATTERN "*.json" PATTERN "*.txt")
install(DIRECTORY validation/ DESTINATION ${CMAKE_INSTALL_DATADIR}/ringwright/validation COMPONENT program
        PATTERN "*.h" EXCLUDE PATTERN "*.cc" EXCLUDE PATTERN "*.cu" EXCLUDE PATTERN "*.cuh" EXCLUDE
        PATTERN "*.sh" EXCLUDE PATTERN "*.py" EXCLUDE PATTERN "CMakeLists.txt" EXCLUDE)
install(FILES README.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT program)
install(DIRECTORY docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT program FILES_MATCHING PATTERN "*.md")
install(FILES planning/report/page/echarts.LICENSE planning/report/page/echarts.NOTICE
        DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT program)

# The program writes its own manual and completions.
set(texts ${CMAKE_BINARY_DIR}/install_texts)
install(CODE "
  file(MAKE_DIRECTORY \"${texts}\")
  foreach(text IN ITEMS \"man=ringwright.1\" \"completion bash=ringwright\" \"completion zsh=_ringwright\" \"completion fish=ringwright.fish\")
    string(REGEX MATCH \"^(.*)=(.*)$\" ignored \"\${text}\")
    set(name \"\${CMAKE_MATCH_2}\")
    separate_arguments(words UNIX_COMMAND \"\${CMAKE_MATCH_1}\")
    execute_process(COMMAND \"$<TARGET_FILE:ringwright>\" \${words} OUTPUT_FILE \"${texts}/\${name}\" COMMAND_ERROR_IS_FATAL ANY)
  endforeach()" COMPONENT program)
install(FILES ${texts}/ringwright.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT program)
install(FILES ${texts}/ringwright DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT program)
install(FILES ${texts}/_ringwright DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions COMPONENT program)
install(FILES ${texts}/ringwright.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT program)

# The library: headers as the sources include them, and one target, ringwright::ringwright, with everything.
add_library(ringwright_house INTERFACE)
target_link_libraries(ringwright_house INTERFACE configs planning validation)
set_target_properties(ringwright_house PROPERTIES EXPORT_NAME ringwright)
set(libraries ringwright_house ringwright_options core_base core_config core_engine core_fabric core_plan core_record core_ports
    core_symmetry core_run core_report network_models collectives workload trace_schemas traces configs page_assets
    source_hash planning_report planning validation_tables validation_left_out validation)
install(TARGETS ${libraries} EXPORT ringwrightTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}/ringwright
        COMPONENT development)
foreach(folder core network_models collectives workload traces configs planning validation)
  install(DIRECTORY ${folder}/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/ringwright/${folder} COMPONENT development
          FILES_MATCHING PATTERN "*.h")
endforeach()
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/ringwright)
install(EXPORT ringwrightTargets NAMESPACE ringwright:: DESTINATION ${package_folder} COMPONENT development)
configure_package_config_file(tools/install/ringwrightConfig.cmake.in ${CMAKE_BINARY_DIR}/ringwrightConfig.cmake
                              INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/ringwrightConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/ringwrightConfig.cmake ${CMAKE_BINARY_DIR}/ringwrightConfigVersion.cmake
        DESTINATION ${package_folder} COMPONENT development)

# `cpack` in the build folder: ringwright (the program) and ringwright-dev (the library).
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME ringwright)
set(CPACK_PACKAGE_CONTACT "the ringwright authors <ringwright@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "predicts what a training step costs on a GPU cluster")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL program development)
set(CPACK_COMPONENTS_GROUPING ONE_PER_GROUP)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME ringwright)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SHLIBDEPS ON)  # the packages of the shared libraries that the program needs
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME ringwright-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS
    "libboost-dev, libexpected-dev, libfmt-dev, libpugixml-dev, libprotobuf-dev, libsimdjson-dev, libsqlite3-dev, libyaml-cpp-dev, nlohmann-json3-dev, zlib1g-dev")
set(CPACK_COMPONENT_DEVELOPMENT_DEPENDS program)
include(CPack)
