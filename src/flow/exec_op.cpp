// exec: sends records through a program. With frames there is one process per worker, with plain
// lines one per slice.
#include <fmt/format.h>

#include "base/text.hpp"
#include "flow/exec_child.hpp"
#include "flow/exec_frames.hpp"
#include "flow/ops.hpp"

namespace plim::flow {
namespace {

constexpr std::size_t kLargestAnswer = std::size_t{1} << 30;

ExecCommand command_of(const json::object& options) {
  ExecCommand out;
  out.argv.emplace_back(text_option(options, "command"));
  for (std::string& argument : texts_option(options, "args"))
    out.argv.push_back(std::move(argument));
  out.cwd = std::string(text_option(options, "cwd"));
  if (const json::value* env = options.if_contains("env"); env != nullptr && env->is_object())
    for (const auto& [key, value] : env->as_object())
      out.env.emplace_back(key,
                           value.is_string() ? std::string(value.as_string()) : to_json(value));
  return out;
}

class Exec : public Operation {
 public:
  explicit Exec(const json::object& options)
      : command_(command_of(options)),
        timeout_(duration_option(options, "timeout")),
        one_for_one_(text_option(options, "mode") == "map") {}

 protected:
  Error of_program(const Error& error) const { return error.with_context(command_.argv[0]); }

  Result<void> take(const std::vector<std::string_view>& lines, Batch& batch) const {
    if (one_for_one_ && lines.size() != batch.records.size())
      return fail(Code::unknown,
                  fmt::format("{} answered {} records to {}; mode map needs the same number",
                              command_.argv[0], lines.size(), batch.records.size()));
    batch.records.clear();
    for (std::string_view line : lines) batch.records.push_back(batch.arena.copy(line));
    return {};
  }

  ExecCommand command_;
  std::chrono::milliseconds timeout_;

 private:
  bool one_for_one_;
};

class PlainExec final : public Exec {
 public:
  using Exec::Exec;

  Result<void> process(SliceContext& context, Batch& batch) override {
    std::string input, output;
    for (Record record : batch.records) input.append(record) += '\n';
    PLIM_TRY(ExecChild child, ExecChild::spawn(command_));
    ExecChild::Talk talk{.input = input, .close_input = true, .timeout = timeout_, .output = {}};
    talk.is_cancelled = context.is_cancelled;
    talk.output = [&](std::string_view bytes) -> Result<bool> {
      if (output.size() + bytes.size() > kLargestAnswer)
        return fail(Code::too_large, "writes more than a gigabyte for one slice");
      output.append(bytes);
      return false;
    };
    if (auto done = child.talk(context.clock, talk); !done) return of_program(done.error());
    const ExecChild::End end = child.wait();
    // grep exits with 1 and no message if nothing matches. That is a valid answer.
    const bool found_nothing = end.exit_code == 1 && end.last_words.empty() && output.empty();
    if (std::string how = end.describe(); !how.empty() && !found_nothing)
      return fail(Code::unknown, fmt::format("{}: {}", command_.argv[0], how));
    std::vector<std::string_view> lines;
    for (std::string_view line : split(output, '\n'))
      if (!trim(line).empty()) lines.push_back(line);
    return take(lines, batch);
  }
};

class FramedExec final : public Exec {
 public:
  explicit FramedExec(const json::object& options)
      : Exec(options), restart_(bool_option(options, "restart")) {}

  Result<void> process(SliceContext& context, Batch& batch) override {
    if (!child_) {
      if (died_ && !restart_)
        return fail(Code::bad_request,
                    fmt::format("{} has ended and restart is false", command_.argv[0]));
      PLIM_TRY(ExecChild child, ExecChild::spawn(command_));
      child_.emplace(std::move(child));
    }
    FrameReply reply(++id_);
    auto done = exchange(reply, context, batch);
    if (done) return take(reply.records(), batch);
    // Data left in the pipes belongs to an earlier batch, so start a new process.
    child_.reset();
    died_ = true;
    return of_program(done.error());
  }

 private:
  Result<void> exchange(FrameReply& reply, SliceContext& context, const Batch& batch) {
    std::string request = frame_request(id_, context, batch.records);
    std::size_t size = 0;
    ExecChild::Talk talk{.input = request, .timeout = timeout_, .output = {}};
    talk.is_cancelled = context.is_cancelled;
    talk.output = [&](std::string_view bytes) -> Result<bool> {
      size += bytes.size();
      if (size > kLargestAnswer)
        return fail(Code::too_large, "writes more than a gigabyte for one slice");
      PLIM_CHECK(reply.feed(bytes));
      return reply.complete();
    };
    PLIM_CHECK(child_->talk(context.clock, talk));
    if (reply.complete()) return {};
    const std::string how = child_->wait().describe();
    return fail(Code::unknown, how.empty() ? "ended in the middle of a batch" : how);
  }

  bool restart_;
  std::optional<ExecChild> child_;
  std::uint64_t id_ = 0;
  bool died_ = false;
};

}  // namespace

Result<std::unique_ptr<Operation>> make_exec(const json::object& options) {
  if (text_option(options, "framing") == "none") return std::make_unique<PlainExec>(options);
  return std::make_unique<FramedExec>(options);
}

}  // namespace plim::flow
