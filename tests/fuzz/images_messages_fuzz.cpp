// Whatever a runtime sends is read or refused, and makes an inventory that reads back.
#include <cstdlib>

#include "images/assemble.hpp"
#include "images/runtime.hpp"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  using namespace plim;
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  (void)images::decode_version(bytes);
  (void)images::decode_filesystems(bytes);
  (void)images::decode_verbose_info(bytes);
  (void)images::parse_manifest(bytes);
  (void)images::parse_diff_ids(bytes);
  if (auto ingests = images::decode_ingests(bytes))
    (void)images::layer_ingests(std::move(*ingests));
  auto held = images::decode_images(bytes);
  auto blobs = images::decode_content(bytes);
  if (!held || !blobs) return 0;
  auto listed = images::canonical_images(*held);
  std::set<std::string> wanted;
  for (const auto& image : listed) wanted.insert(image.id);
  for (const auto& blob : *blobs) wanted.insert(blob.config);
  const auto layers = images::layers_from_content(*blobs, wanted);
  const auto made = images::assemble(std::move(listed), layers.known);
  auto again = loop::inventory_from_json(loop::inventory_to_json(made));
  if (!again || again->layers != made.layers) std::abort();
  return 0;
}
