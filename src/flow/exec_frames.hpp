// What a program under the operation exec is told and answers: a begin line, records, an end line.
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

// Takes an answer apart as it arrives.
class FrameReply {
 public:
  explicit FrameReply(std::uint64_t id) : id_(id) {}

  // Code::bad_request: the program says that trying again is of no use.
  Result<void> feed(std::string_view bytes);

  bool complete() const { return state_ == State::after; }

  // The records, without line ends; valid as long as this is.
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
  std::size_t parsed_ = 0;  // up to here lines were taken
  std::vector<Piece> pieces_;
};

}  // namespace plim::flow
