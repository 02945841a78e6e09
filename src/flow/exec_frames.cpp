#include "flow/exec_frames.hpp"

#include <fmt/format.h>

#include "base/json.hpp"
#include "base/text.hpp"

namespace plim::flow {
namespace {

// Records may have any content. Only a line that begins with this member is part of a frame.
bool looks_like_frame(std::string_view line) {
  line = trim(line);
  if (!line.starts_with('{')) return false;
  return trim(line.substr(1)).starts_with("\"_b\"");
}

}  // namespace

std::string frame_request(std::uint64_t id, const SliceContext& context,
                          const std::vector<Record>& records) {
  json::object begin{{"_b", "begin"},
                     {"id", id},
                     {"slice_id", context.slice_id},
                     {"attempt", context.attempt},
                     {"n", records.size()}};
  std::string out = to_json(json::value(std::move(begin))) + "\n";
  for (Record record : records) out.append(record) += '\n';
  out += fmt::format("{{\"_b\":\"end\",\"id\":{}}}\n", id);
  return out;
}

Result<void> FrameReply::feed(std::string_view bytes) {
  text_.append(bytes);
  while (true) {
    std::size_t end = text_.find('\n', parsed_);
    if (end == text_.npos) return {};
    std::size_t at = std::exchange(parsed_, end + 1);
    PLIM_CHECK(take_line(at, end - at));
  }
}

Result<void> FrameReply::take_line(std::size_t at, std::size_t size) {
  std::string_view line = std::string_view(text_).substr(at, size);
  if (looks_like_frame(line)) return take_frame(line);
  if (trim(line).empty()) return {};
  if (state_ != State::inside)
    return fail(Code::unknown, fmt::format("wrote {} outside of a frame", quote(line)));
  if (line.ends_with('\r')) --size;
  pieces_.push_back({.at = at, .size = size});
  return {};
}

Result<void> FrameReply::take_frame(std::string_view line) {
  auto frame = parse_json(line);
  if (!frame) return fail(Code::unknown, fmt::format("wrote an invalid frame: {}", quote(line)));
  std::string_view kind = text_at(*frame, {"_b"});
  auto id = int_at(*frame, {"id"});
  if (!id || static_cast<std::uint64_t>(*id) != id_)
    return fail(Code::unknown, fmt::format("answered another batch: {}", quote(line)));
  if (kind == "error") {
    const json::value* retryable = find(*frame, {"retryable"});
    const bool final = retryable != nullptr && retryable->is_bool() && !retryable->as_bool();
    return fail(final ? Code::bad_request : Code::unknown,
                std::string(text_at(*frame, {"message"})));
  }
  if (kind == "begin" && state_ == State::before)
    state_ = State::inside;
  else if (kind == "end" && state_ == State::inside)
    state_ = State::after;
  else
    return fail(Code::unknown, fmt::format("wrote an unexpected frame: {}", quote(line)));
  return {};
}

std::vector<std::string_view> FrameReply::records() const {
  std::vector<std::string_view> out;
  out.reserve(pieces_.size());
  for (Piece piece : pieces_) out.push_back(std::string_view(text_).substr(piece.at, piece.size));
  return out;
}

}  // namespace plim::flow
