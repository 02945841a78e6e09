// Any text: a selector or an error, and what is printed reads back as the same.
#include <cstdint>

#include "kube/selector.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace plim::kube;
  std::string_view text(reinterpret_cast<const char*>(data), size);
  if (auto labels = LabelSelector::parse(text)) {
    auto again = LabelSelector::parse(labels->to_string());
    PLIM_ASSERT(again && *again == *labels);
    labels->matches(std::vector<std::pair<std::string, std::string>>{{"a", "1"}, {"b", ""}});
  }
  if (auto fields = FieldSelector::parse(text)) {
    auto again = FieldSelector::parse(fields->to_string());
    PLIM_ASSERT(again && *again == *fields);
  }
  return 0;
}
