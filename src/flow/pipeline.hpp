// The chain of operations of one worker, built once and run slice after slice.
#pragma once

#include <memory>
#include <vector>

#include "base/result.hpp"
#include "flow/job.hpp"
#include "flow/slice.hpp"

namespace plim::flow {

// Belongs to one thread.
class Pipeline {
 public:
  static Result<Pipeline> build(const Job& job);

  // Fetch and all operations, up to max_retries more times after a failure, with growing pauses.
  SliceReport run(const Slice& slice, SliceContext& context);

 private:
  Pipeline() = default;
  Result<void> run_once(const json::value& request, SliceContext& context, SliceReport& report);

  std::unique_ptr<Fetcher> fetcher_;
  std::vector<std::unique_ptr<Operation>> operations_;
  std::vector<std::string> names_;
  unsigned max_retries_ = 0;
  Batch batch_;
};

}  // namespace plim::flow
