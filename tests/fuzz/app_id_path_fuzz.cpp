// Any text as a path, the rest as a pod: an error with a column, a usable id or a reason.
#include <cstdint>
#include <string_view>

#include "base/json.hpp"
#include "loop/application_id.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace plim;
  std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::size_t end = input.find('\n');
  auto path = loop::AppIdPath::parse(input.substr(0, end));
  if (!path) {
    PLIM_ASSERT(path.error().message.starts_with("column "));
    return 0;
  }
  if (end == input.npos) return 0;
  auto pod = parse_json(input.substr(end + 1));
  if (!pod) return 0;
  const loop::AppIdLookup found = path->find(*pod);
  PLIM_ASSERT(found.found() == !found.id.empty());
  PLIM_ASSERT(found.found() == found.why.empty());
  PLIM_ASSERT(found.id.size() <= loop::kLongestAppId);
  return 0;
}
