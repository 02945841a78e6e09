// Whatever parses prints as YAML and parses again to the same JSON.
#include <cstdlib>

#include "base/yaml.hpp"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  auto documents = plim::parse_yaml_documents(text, "fuzz");
  if (!documents) return 0;
  for (const plim::YamlDocument& document : *documents) {
    auto again = plim::parse_yaml(plim::to_yaml(document.value()));
    if (!again || plim::to_json(*again) != plim::to_json(document.value())) std::abort();
  }
  return 0;
}
