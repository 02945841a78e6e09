// Any bytes as the answer of a program under exec: never a crash, and the same however it is cut.
#include <cstdint>
#include <string_view>

#include "flow/exec_frames.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace plim;
  if (size < 1) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::size_t half = data[0] * text.size() / 256;
  flow::FrameReply whole(1), cut(1);
  const bool good = whole.feed(text).has_value();
  const bool good_cut = cut.feed(text.substr(0, half)) && cut.feed(text.substr(half));
  PLIM_ASSERT(good == good_cut);
  if (!good) return 0;
  PLIM_ASSERT(whole.complete() == cut.complete());
  PLIM_ASSERT(whole.records() == cut.records());
  return 0;
}
