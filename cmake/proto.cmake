# plim_proto(NAME FILE.proto [GRPC])
# A library proto_NAME with the lite messages of one file; #include "FILE.pb.h". Only what links it
# gets protobuf. With GRPC also grpc++'s stubs, for test peers.

function(plim_proto name file)
  cmake_parse_arguments(P "GRPC" "" "" ${ARGN})
  cmake_path(GET file STEM stem)
  set(source ${CMAKE_CURRENT_SOURCE_DIR}/${file})
  cmake_path(GET source PARENT_PATH folder)
  set(out ${CMAKE_CURRENT_BINARY_DIR}/${name})
  file(MAKE_DIRECTORY ${out})
  set(generated ${out}/${stem}.pb.cc)
  set(arguments --cpp_out=${out} -I ${folder})
  if(P_GRPC)
    list(APPEND generated ${out}/${stem}.grpc.pb.cc)
    list(APPEND arguments --grpc_out=${out} --plugin=protoc-gen-grpc=${PLIM_GRPC_CPP_PLUGIN})
  endif()
  add_custom_command(
    OUTPUT ${generated}
    COMMAND protobuf::protoc ${arguments} ${source}
    DEPENDS ${source})

  add_library(proto_${name} STATIC EXCLUDE_FROM_ALL ${generated})
  target_compile_options(proto_${name} PRIVATE -w)  # not our code
  target_include_directories(proto_${name} SYSTEM PUBLIC ${out})
  target_link_libraries(proto_${name} PRIVATE plim_options PUBLIC protobuf::libprotobuf-lite)
  if(P_GRPC)
    target_link_libraries(proto_${name} PUBLIC ${PLIM_GRPCPP} grpc gpr absl_synchronization)
  endif()
endfunction()
