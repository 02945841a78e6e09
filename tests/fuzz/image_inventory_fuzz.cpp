// An inventory that is read is written and read again the same, and cut to any size stays whole.
#include <cstdlib>

#include "loop/image_inventory.hpp"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  auto value = plim::parse_json(text);
  if (!value) return 0;
  auto inventory = plim::loop::inventory_from_json(*value);
  if (!inventory) return 0;
  auto again = plim::loop::inventory_from_json(plim::loop::inventory_to_json(*inventory));
  if (!again || again->images != inventory->images || again->layers != inventory->layers)
    std::abort();
  const auto cut = plim::loop::fitting_inventory(*inventory, size / 2);
  for (const auto& image : cut.images)
    for (auto layer : image.layers)
      if (layer >= cut.layers.size()) std::abort();
  return 0;
}
