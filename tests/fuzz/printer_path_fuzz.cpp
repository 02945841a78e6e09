// Any text: a path that is refused, or one that finds something or nothing.
#include <cstdint>

#include "local/apiserver/crd/printer_path.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace plim;
  const json::value object =
      parse_json(R"({"a":{"b":[1,{"c":"x"},{"type":"Ready","status":"True"}]},"d":"text"})")
          .value();
  const auto path =
      local::apiserver::PrinterPath::parse({reinterpret_cast<const char*>(data), size});
  if (path) path->find_in(object);
  return 0;
}
