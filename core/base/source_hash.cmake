# Writes OUTPUT, a C++ source with a hash of COMPILER and of the sources under FOLDER that decide what a simulated point
# is.
file(GLOB_RECURSE sources RELATIVE ${FOLDER}
     ${FOLDER}/core/*.cc ${FOLDER}/core/*.h ${FOLDER}/network_models/*.cc ${FOLDER}/network_models/*.h
     ${FOLDER}/collectives/*.cc ${FOLDER}/collectives/*.h ${FOLDER}/workload/*.cc ${FOLDER}/workload/*.h
     ${FOLDER}/traces/*.cc ${FOLDER}/traces/*.h ${FOLDER}/traces/*.proto ${FOLDER}/configs/*.cc ${FOLDER}/configs/*.h
     ${FOLDER}/planning/study/*.cc ${FOLDER}/planning/study/*.h)
list(SORT sources)
set(all "${COMPILER}\n")
foreach(source IN LISTS sources)
  file(SHA256 ${FOLDER}/${source} hash)
  string(APPEND all "${source} ${hash}\n")
endforeach()
string(SHA256 hash "${all}")
string(SUBSTRING ${hash} 0 12 short)
file(WRITE ${OUTPUT} "#include \"core/base/source_hash.h\"\n\nnamespace ringwright {\n\n"
     "std::string_view source_hash() {\n  return \"${short}\";\n}\n\n}  // namespace ringwright\n")
