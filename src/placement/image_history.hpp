// Which image a name meant when pods of the same owner ran it: only a pull shows the digest of a
// tag. Belongs to one thread.
#pragma once

#include <deque>
#include <string>
#include <string_view>

#include "kube/types.hpp"
#include "placement/image_table.hpp"

namespace plim::placement {

class ImageHistory {
 public:
  // Remembers which images the containers of a pod run, if its status says so and it has a
  // controller.
  void note(const kube::Pod& pod);

  // The keys of the image that pods of the same owner got by this name last; empty if unknown.
  const ImageKeys& find(const kube::Pod& pod, std::string_view image) const;

 private:
  // Owners come and go, so only the latest ones are kept.
  static constexpr std::size_t kMost = 4096;

  TextMap<ImageKeys> known_;  // by the owner's uid and the image
  std::deque<std::string> order_;
};

}  // namespace plim::placement
