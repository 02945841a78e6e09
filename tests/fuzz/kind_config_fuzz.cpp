// Files for `plimsoll up --config`: whatever they hold, the answer is a cluster with nodes or a
// mistake with its place.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "local/cluster/kind_config.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace plim;
  const auto read =
      local::cluster::read_kind_config({reinterpret_cast<const char*>(data), size}, "fuzz.yaml");
  if (!read) {
    PLIM_ASSERT(read.error().message.starts_with("fuzz.yaml:"));
    return 0;
  }
  PLIM_ASSERT(!read->nodes.empty());
  PLIM_ASSERT(local::cluster::kind_node_names(*read, "c").size() == read->nodes.size());
  PLIM_ASSERT(read->scheduler.config_file.empty() || !read->scheduler.config.empty());
  return 0;
}
