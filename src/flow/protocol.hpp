// The messages between controller and worker: frames with a 32-bit length, a type and fields. Both
// ends are the same program; the version in the first frame only guards against mistakes.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "flow/slice.hpp"

namespace plim::flow {

inline constexpr std::uint32_t kProtocolVersion = 1;
inline constexpr std::size_t kLargestFrame = std::size_t{256} << 20;

enum class FrameType : std::uint8_t {
  hello = 1,  // worker: the first frame
  welcome,    // controller: the execution and the worker's ID
  dispatch,   // controller: a slice
  cancel,     // controller: another worker has the slice
  shutdown,   // controller: end, and commit nothing more
  heartbeat,  // worker: every second
  report,     // worker: a slice is finished
  broken,     // worker: it cannot run this execution
};

struct Frame {
  FrameType type;
  std::string_view payload;
};

// Splits a stream of bytes into frames.
class FrameSplitter {
 public:
  void feed(std::string_view bytes);
  // Nothing: the frame is incomplete. The view is valid until the next feed(). Code::invalid: the
  // bytes are not a frame.
  Result<std::optional<Frame>> next();

 private:
  std::string buffer_;
  std::size_t at_ = 0;
};

struct Hello {
  std::uint32_t version = kProtocolVersion;
  std::uint32_t pid = 0;
};

struct Welcome {
  std::string ex_id;
  std::string worker_id;
  std::string job;  // JSON, with defaults
};

struct Dispatch {
  Slice slice;  // including the number of the attempt
};

struct Cancel {
  SliceKey key;
  std::uint32_t attempt = 0;
};

struct Heartbeat {
  std::uint64_t rss = 0;  // bytes
};

std::string encode(const Hello& hello);
std::string encode(const Welcome& welcome);
std::string encode(const Dispatch& dispatch);
std::string encode(const Cancel& cancel);
std::string encode(const Heartbeat& heartbeat);
std::string encode(const SliceReport& report);
std::string encode_shutdown();
std::string encode_broken(std::string_view message);

// Code::invalid if the payload does not have this type.
Result<Hello> decode_hello(std::string_view payload);
Result<Welcome> decode_welcome(std::string_view payload);
Result<Dispatch> decode_dispatch(std::string_view payload);
Result<Cancel> decode_cancel(std::string_view payload);
Result<Heartbeat> decode_heartbeat(std::string_view payload);
Result<SliceReport> decode_report(std::string_view payload);
Result<std::string> decode_broken(std::string_view payload);

}  // namespace plim::flow
