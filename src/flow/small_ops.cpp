// noop, delay, stdout.
#include "flow/ops.hpp"

namespace plim::flow {
namespace {

constexpr std::size_t kMostPrinted = std::size_t{64} << 20;  // it must fit into one frame

class Noop final : public Operation {
 public:
  Result<void> process(SliceContext&, Batch&) override { return {}; }
};

class Delay final : public Operation {
 public:
  explicit Delay(std::chrono::milliseconds time) : time_(time) {}

  Result<void> process(SliceContext& context, Batch&) override { return context.wait(time_); }

 private:
  std::chrono::milliseconds time_;
};

// Workers have no standard output. The controller prints the text of slices that it accepts.
class Stdout final : public Operation {
 public:
  explicit Stdout(std::size_t limit) : limit_(limit) {}

  Result<void> process(SliceContext& context, Batch& batch) override {
    std::size_t left = limit_ == 0 ? batch.records.size() : limit_;
    for (Record record : batch.records) {
      if (left-- == 0) break;
      context.printed.append(record) += '\n';
      if (context.printed.size() > kMostPrinted)
        return fail(Code::bad_request,
                    "a slice prints more than 64 MB; use smaller slices, or file_exporter");
    }
    return {};
  }

 private:
  std::size_t limit_;
};

}  // namespace

Result<std::unique_ptr<Operation>> make_noop(const json::object&) {
  return std::make_unique<Noop>();
}

Result<std::unique_ptr<Operation>> make_delay(const json::object& options) {
  return std::make_unique<Delay>(duration_option(options, "ms"));
}

Result<std::unique_ptr<Operation>> make_stdout(const json::object& options) {
  return std::make_unique<Stdout>(static_cast<std::size_t>(int_option(options, "limit")));
}

Guarantee stdout_guarantee(const json::object&) {
  return {.exactly_once = false,
          .reason = "stdout: records printed shortly before a crash are printed again"};
}

}  // namespace plim::flow
