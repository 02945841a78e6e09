// The short form of an inventory that fits into an annotation of a Node, for schedulers that may
// read nodes but no resource of ours: hashes of names with sizes, no layers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "loop/image_inventory.hpp"

namespace plim::loop {

inline constexpr std::string_view kImagesAnnotation = "plimsoll.io/images";
// When its writer last saw these images, RFC 3339: it says so again while nothing changes, or
// nobody could tell a list that still holds from one whose writer is gone.
inline constexpr std::string_view kImagesTimeAnnotation = "plimsoll.io/images-at";
// Annotations of an object share 256 KiB.
inline constexpr std::size_t kLongestImagesAnnotation = 32 * 1024;

// Base 64 of zstd of, sorted by hash, 8 bytes of XXH64 (little endian) of each canonical name and
// its image's size in KiB, rounded up, as a varint. What does not fit is left out, the smallest
// images first.
std::string annotate_images(const ImageInventory& inventory,
                            std::size_t limit = kLongestImagesAnnotation);

// An image for each hash, with hashed_image_name() as its only name and as its id.
Result<ImageInventory> images_from_annotation(std::string_view text);
// "xxh64:0123456789abcdef" of a canonical name, to be looked up among those.
std::string hashed_image_name(std::string_view canonical);

std::uint64_t xxh64(std::string_view bytes);

}  // namespace plim::loop
