// libjq behind a small door. Loaded when the first job needs it, so that no other role carries it.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace plim::flow {

// A compiled program; belongs to one thread. Compiling takes some 20 ms, so once per worker.
class JqProgram {
 public:
  // Code::invalid: the program has a mistake. Code::unavailable: there is no libjq on this machine.
  static Result<JqProgram> compile(const std::string& text);
  ~JqProgram();
  JqProgram(JqProgram&&) noexcept;

  // The results as JSON texts, one after the other in `out`, which is emptied before.
  Result<void> run(std::string_view record, std::vector<std::string>& out);

 private:
  struct State;
  explicit JqProgram(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace plim::flow
