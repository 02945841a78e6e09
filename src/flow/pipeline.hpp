// The operations of one worker, created once and run for slice after slice.
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

  // Runs the fetcher and all operations. Retries after a failure, at most max_retries times, with
  // growing pauses.
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
