// What an annotation tells is told again by the one made of it.
#include <cstdlib>

#include "loop/image_annotation.hpp"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  auto read = plim::loop::images_from_annotation({reinterpret_cast<const char*>(data), size});
  if (!read) return 0;
  auto again = plim::loop::images_from_annotation(plim::loop::annotate_images(*read));
  if (!again || again->images.size() > read->images.size()) std::abort();
  return 0;
}
