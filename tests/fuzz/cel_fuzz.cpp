// Any text: an expression that is refused, or one that is evaluated to its end.
#include <cstdint>

#include "local/apiserver/admission/cel.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace plim;
  const json::value object =
      parse_json(R"({"a":{"b":[1,{"c":"x"},2.5,null,true]},"d":"text"})").value();
  auto expression =
      local::apiserver::CelExpression::parse({reinterpret_cast<const char*>(data), size});
  if (expression)
    (void)expression->evaluate({{"object", &object}, {"oldObject", &object}, {"request", &object}});
  return 0;
}
