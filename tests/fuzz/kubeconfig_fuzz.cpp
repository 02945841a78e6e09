// Any bytes as a kubeconfig: parsed, or refused with a place.
#include <cstdint>
#include <cstdlib>

#include "kube/kubeconfig.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  auto parsed = plim::kube::parse_kubeconfig(text, "/etc/kube/config", "config");
  if (!parsed && !parsed.error().message.starts_with("config:")) std::abort();
  if (parsed) {
    plim::kube::Kubeconfig merged = *parsed;
    merge(merged, *parsed);
    if (merged.clusters.size() != parsed->clusters.size()) std::abort();
  }
  return 0;
}
