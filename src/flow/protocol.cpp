#include "flow/protocol.hpp"

#include <cstring>

#include <fmt/format.h>

#include "base/wire.hpp"

namespace plim::flow {
namespace {

constexpr std::size_t kHead = sizeof(std::uint32_t) + 1;

std::string framed(FrameType type, std::string_view payload) {
  std::string out;
  out.reserve(kHead + payload.size());
  put_number(out, static_cast<std::uint32_t>(payload.size()));
  put_number(out, static_cast<std::uint8_t>(type));
  out.append(payload);
  return out;
}

void put_key(std::string& out, SliceKey key) {
  put_number(out, key.slicer);
  put_number(out, key.order);
}

SliceKey read_key(WireReader& reader) {
  SliceKey key;
  key.slicer = reader.number<std::uint32_t>();
  key.order = reader.number<std::uint64_t>();
  return key;
}

template <class T>
Result<T> finished(const WireReader& reader, T value) {
  if (!reader.at_end()) return fail(Code::invalid, "malformed frame");
  return value;
}

}  // namespace

void FrameSplitter::feed(std::string_view bytes) {
  buffer_.erase(0, at_);
  at_ = 0;
  buffer_.append(bytes);
}

Result<std::optional<Frame>> FrameSplitter::next() {
  std::string_view rest = std::string_view(buffer_).substr(at_);
  if (rest.size() < kHead) return std::optional<Frame>();
  std::uint32_t size = 0;
  std::memcpy(&size, rest.data(), sizeof size);
  const auto type = static_cast<std::uint8_t>(rest[sizeof size]);
  if (size > kLargestFrame || type < static_cast<std::uint8_t>(FrameType::hello) ||
      type > static_cast<std::uint8_t>(FrameType::broken))
    return fail(Code::invalid, fmt::format("not a frame: type {}, {} bytes", type, size));
  if (rest.size() - kHead < size) return std::optional<Frame>();
  at_ += kHead + size;
  return std::optional(
      Frame{.type = static_cast<FrameType>(type), .payload = rest.substr(kHead, size)});
}

std::string encode(const Hello& hello) {
  std::string out;
  put_number(out, hello.version);
  put_number(out, hello.pid);
  return framed(FrameType::hello, out);
}

Result<Hello> decode_hello(std::string_view payload) {
  WireReader reader(payload);
  Hello out;
  out.version = reader.number<std::uint32_t>();
  out.pid = reader.number<std::uint32_t>();
  return finished(reader, out);
}

std::string encode(const Welcome& welcome) {
  std::string out;
  put_bytes(out, welcome.ex_id);
  put_bytes(out, welcome.worker_id);
  put_bytes(out, welcome.job);
  return framed(FrameType::welcome, out);
}

Result<Welcome> decode_welcome(std::string_view payload) {
  WireReader reader(payload);
  Welcome out;
  out.ex_id = reader.bytes();
  out.worker_id = reader.bytes();
  out.job = reader.bytes();
  return finished(reader, std::move(out));
}

std::string encode(const Dispatch& dispatch) {
  const Slice& slice = dispatch.slice;
  std::string out;
  put_key(out, slice.key);
  put_number(out, slice.attempt);
  put_number(out, static_cast<std::uint64_t>(slice.created.time_since_epoch().count()));
  put_bytes(out, slice.id);
  put_bytes(out, slice.request);
  return framed(FrameType::dispatch, out);
}

Result<Dispatch> decode_dispatch(std::string_view payload) {
  WireReader reader(payload);
  Dispatch out;
  out.slice.key = read_key(reader);
  out.slice.attempt = reader.number<std::uint32_t>();
  out.slice.created = WallTime(Nanos(static_cast<std::int64_t>(reader.number<std::uint64_t>())));
  out.slice.id = reader.bytes();
  out.slice.request = reader.bytes();
  return finished(reader, std::move(out));
}

std::string encode(const Cancel& cancel) {
  std::string out;
  put_key(out, cancel.key);
  put_number(out, cancel.attempt);
  return framed(FrameType::cancel, out);
}

Result<Cancel> decode_cancel(std::string_view payload) {
  WireReader reader(payload);
  Cancel out;
  out.key = read_key(reader);
  out.attempt = reader.number<std::uint32_t>();
  return finished(reader, out);
}

std::string encode(const Heartbeat& heartbeat) {
  std::string out;
  put_number(out, heartbeat.rss);
  return framed(FrameType::heartbeat, out);
}

Result<Heartbeat> decode_heartbeat(std::string_view payload) {
  WireReader reader(payload);
  Heartbeat out{.rss = reader.number<std::uint64_t>()};
  return finished(reader, out);
}

std::string encode(const SliceReport& report) {
  std::string out;
  put_key(out, report.key);
  put_number(out, report.attempt);
  put_number(out, static_cast<std::uint8_t>(report.outcome));
  put_number(out, report.retries);
  put_number(out, report.records_in);
  put_number(out, report.records_out);
  put_number(out, report.bytes);
  put_number(out, report.micros);
  put_bytes(out, report.error);
  put_bytes(out, report.printed);
  return framed(FrameType::report, out);
}

Result<SliceReport> decode_report(std::string_view payload) {
  WireReader reader(payload);
  SliceReport out;
  out.key = read_key(reader);
  out.attempt = reader.number<std::uint32_t>();
  const auto outcome = reader.number<std::uint8_t>();
  out.retries = reader.number<std::uint32_t>();
  out.records_in = reader.number<std::uint64_t>();
  out.records_out = reader.number<std::uint64_t>();
  out.bytes = reader.number<std::uint64_t>();
  out.micros = reader.number<std::uint64_t>();
  out.error = reader.bytes();
  out.printed = reader.bytes();
  if (outcome > static_cast<std::uint8_t>(Outcome::cancelled))
    return fail(Code::invalid, "malformed frame");
  out.outcome = static_cast<Outcome>(outcome);
  return finished(reader, std::move(out));
}

std::string encode_shutdown() {
  return framed(FrameType::shutdown, {});
}

std::string encode_broken(std::string_view message) {
  std::string out;
  put_bytes(out, message);
  return framed(FrameType::broken, out);
}

Result<std::string> decode_broken(std::string_view payload) {
  WireReader reader(payload);
  std::string out(reader.bytes());
  return finished(reader, std::move(out));
}

}  // namespace plim::flow
