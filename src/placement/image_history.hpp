// What the name of an image stood for when pods of the same owner ran it: a tag tells the digest
// only to who pulls it. Belongs to one thread.
#pragma once

#include <deque>
#include <string>
#include <string_view>

#include "kube/types.hpp"
#include "placement/image_table.hpp"

namespace plim::placement {

class ImageHistory {
 public:
  // What the containers of a pod with a controller run, as far as its status says it.
  void note(const kube::Pod& pod);

  // The keys of what the pod's siblings got by this name last; none if that is not known.
  const ImageKeys& find(const kube::Pod& pod, std::string_view image) const;

 private:
  // Owners come and go; what is asked about is what started lately.
  static constexpr std::size_t kMost = 4096;

  TextMap<ImageKeys> known_;  // by the owner's uid and the image
  std::deque<std::string> order_;
};

}  // namespace plim::placement
