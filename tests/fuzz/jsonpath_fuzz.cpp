// A template and the document it is applied to, separated by a line end.
#include <cstdint>
#include <string_view>

#include "cli/jsonpath.hpp"

using namespace plim;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view input(reinterpret_cast<const char*>(data), size);
  std::size_t end = std::min(input.find('\n'), input.size());
  auto path = cli::JsonPath::parse(input.substr(0, end));
  (void)cli::JsonPath::parse_column(input.substr(0, end));
  if (!path) {
    if (path.error().message.find("column ") == std::string::npos) __builtin_trap();
    return 0;
  }
  static const json::value kUsual =
      parse_json(R"({"items":[{"name":"a","n":1,"l":[1,2,[3]]},{"name":"b","o":{"name":null}}]})")
          .value();
  auto document = parse_json(input.substr(std::min(end + 1, input.size())));
  (void)path->render(document ? *document : kUsual);
  (void)path->find(kUsual);
  return 0;
}
