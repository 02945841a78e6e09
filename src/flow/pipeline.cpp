#include "flow/pipeline.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

namespace plim::flow {
namespace {

using namespace std::chrono_literals;

constexpr auto kFirstRetry = 100ms;
constexpr auto kLongestRetry = 5000ms;
constexpr auto kLookEvery = 20ms;

}  // namespace

Result<void> SliceContext::wait(std::chrono::milliseconds time) const {
  const SteadyTime end = clock.steady() + time;
  while (true) {
    if (is_cancelled()) return fail(Code::cancelled, "the slice was cancelled");
    const auto left = end - clock.steady();
    if (left <= 0ns) return {};
    std::this_thread::sleep_for(std::min<std::chrono::nanoseconds>(left, kLookEvery));
  }
}

Result<Pipeline> Pipeline::build(const Job& job) {
  Pipeline out;
  out.max_retries_ = job.max_retries;
  const OpConfig& reader = job.operations.front();
  PLIM_TRY(out.fetcher_, reader.entry->fetcher(reader.options));
  out.names_.emplace_back(reader.entry->name);
  for (std::size_t i = 1; i < job.operations.size(); ++i) {
    const OpConfig& config = job.operations[i];
    auto made = config.entry->operation(config.options);
    if (!made) return made.error().with_context(config.entry->name);
    out.operations_.push_back(std::move(*made));
    out.names_.emplace_back(config.entry->name);
  }
  return out;
}

Result<void> Pipeline::run_once(const json::value& request, SliceContext& context,
                                SliceReport& report) {
  batch_.clear();
  context.printed.clear();
  if (auto done = fetcher_->fetch(request, context, batch_); !done)
    return done.error().with_context(names_[0]);
  report.records_in = batch_.records.size();
  report.bytes = batch_.bytes();
  for (std::size_t i = 0; i < operations_.size(); ++i)
    if (auto done = operations_[i]->process(context, batch_); !done)
      return done.error().with_context(names_[i + 1]);
  report.records_out = batch_.records.size();
  if (context.is_cancelled()) return fail(Code::cancelled, "the slice was cancelled");
  for (std::size_t i = 0; i < operations_.size(); ++i)
    if (auto done = operations_[i]->commit(context); !done)
      return done.error().with_context(names_[i + 1]);
  return {};
}

SliceReport Pipeline::run(const Slice& slice, SliceContext& context) {
  SliceReport report{.key = slice.key, .attempt = slice.attempt};
  const SteadyTime start = context.clock.steady();
  Result<void> done;
  Result<json::value> request = parse_json(slice.request, "request");
  if (!request) done = fail(Code::bad_request, request.error().message);
  for (auto wait = std::chrono::milliseconds(kFirstRetry); request;
       wait = std::min<std::chrono::milliseconds>(2 * wait, kLongestRetry)) {
    done = run_once(*request, context, report);
    if (done) break;
    for (auto& operation : operations_) operation->abandon();
    if (done.error().code == Code::bad_request || done.error().code == Code::cancelled) break;
    if (report.retries == max_retries_) break;
    if (auto waited = context.wait(wait); !waited) {
      done = waited;
      break;
    }
    ++report.retries;
  }
  if (!done) {
    report.outcome = done.error().code == Code::cancelled ? Outcome::cancelled : Outcome::failed;
    report.error = done.error().message;
    report.records_in = report.records_out = report.bytes = 0;
  } else {
    report.printed = std::move(context.printed);
  }
  report.micros = static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::microseconds>(context.clock.steady() - start)
          .count());
  return report;
}

}  // namespace plim::flow
