// The short form of an inventory that fits into an annotation of a Node, for schedulers that may
// read nodes but no custom resource: hashes of names with sizes, no layers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "loop/image_inventory.hpp"

namespace plim::loop {

inline constexpr std::string_view kImagesAnnotation = "plimsoll.io/images";
// When the writer last saw these images, RFC 3339. It is updated even if nothing changes, so that
// readers can distinguish a valid list from one whose writer is gone.
inline constexpr std::string_view kImagesTimeAnnotation = "plimsoll.io/images-at";
// Annotations of an object share 256 KiB.
inline constexpr std::size_t kLongestImagesAnnotation = 32 * 1024;

// Base64 of zstd of a list sorted by hash: 8 bytes XXH64 (little-endian) of each canonical name,
// and the size of its image in KiB, rounded up, as a varint. If it does not fit, the smallest
// images are omitted.
std::string annotate_images(const ImageInventory& inventory,
                            std::size_t limit = kLongestImagesAnnotation);

// One image for each hash, with hashed_image_name() as its only name and as its ID.
Result<ImageInventory> images_from_annotation(std::string_view text);
// "xxh64:0123456789abcdef" for a canonical name, to look it up among those.
std::string hashed_image_name(std::string_view canonical);

std::uint64_t xxh64(std::string_view bytes);

}  // namespace plim::loop
