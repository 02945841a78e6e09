// An adapter for libjq. It loads the library when the first job needs it, so that other roles do
// not.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace plim::flow {

// A compiled program; belongs to one thread. Compiling takes about 20 ms, so each worker does it
// once.
class JqProgram {
 public:
  // Code::invalid: the program has an error. Code::unavailable: libjq is not installed.
  static Result<JqProgram> compile(const std::string& text);
  ~JqProgram();
  JqProgram(JqProgram&&) noexcept;

  // Replaces `out` by the results, one JSON text each.
  Result<void> run(std::string_view record, std::vector<std::string>& out);

 private:
  struct State;
  explicit JqProgram(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace plim::flow
