// The frames that the operation exec exchanges with a program: a begin line, records, an end line.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "flow/batch.hpp"
#include "flow/op.hpp"

namespace plim::flow {

std::string frame_request(std::uint64_t id, const SliceContext& context,
                          const std::vector<Record>& records);

// Parses an answer as it arrives.
class FrameReply {
 public:
  explicit FrameReply(std::uint64_t id) : id_(id) {}

  // Code::bad_request: the program reports that a retry is useless.
  Result<void> feed(std::string_view bytes);

  bool complete() const { return state_ == State::after; }

  // The records without line ends; valid as long as this object.
  std::vector<std::string_view> records() const;

 private:
  enum class State { before, inside, after };

  struct Piece {
    std::size_t at, size;
  };

  Result<void> take_line(std::size_t at, std::size_t size);
  Result<void> take_frame(std::string_view line);

  std::uint64_t id_;
  State state_ = State::before;
  std::string text_;
  std::size_t parsed_ = 0;  // lines before this offset are parsed
  std::vector<Piece> pieces_;
};

}  // namespace plim::flow
