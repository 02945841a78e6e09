// jq: runs a program on every record.
#include <fmt/format.h>

#include "base/files.hpp"
#include "flow/jq_engine.hpp"
#include "flow/jq_native.hpp"
#include "flow/ops.hpp"

namespace plim::flow {
namespace {

enum class Mode { filter, map, flatmap };

Mode mode_of(std::string_view name) {
  return name == "filter" ? Mode::filter : name == "flatmap" ? Mode::flatmap : Mode::map;
}

Result<std::string> program_of(const json::object& options) {
  if (std::string_view file = text_option(options, "file"); !file.empty())
    return read_file(std::string(file));
  return std::string(text_option(options, "expr"));
}

std::string of_record(std::size_t index, std::string_view what) {
  return fmt::format("record {} of the slice: {}", index + 1, what);
}

class NativeFilter final : public Operation {
 public:
  explicit NativeFilter(std::unique_ptr<Condition> condition) : condition_(std::move(condition)) {}

  Result<void> process(SliceContext&, Batch& batch) override {
    std::size_t kept = 0;
    reader_.forget();
    for (std::size_t i = 0; i < batch.records.size(); ++i) {
      auto answer = condition_->test(batch.records[i], reader_);
      if (answer == Condition::Answer::broken)
        return fail(Code::invalid, of_record(i, "not a JSON object"));
      if (answer == Condition::Answer::yes) batch.records[kept++] = batch.records[i];
    }
    batch.records.resize(kept);
    return {};
  }

 private:
  std::unique_ptr<Condition> condition_;
  FieldReader reader_;
};

class Jq final : public Operation {
 public:
  Jq(JqProgram program, Mode mode) : program_(std::move(program)), mode_(mode) {}

  Result<void> process(SliceContext&, Batch& batch) override {
    made_.clear();
    for (std::size_t i = 0; i < batch.records.size(); ++i) {
      Record record = batch.records[i];
      if (auto done = program_.run(record, results_); !done)
        return fail(done.error().code, of_record(i, done.error().message));
      if (mode_ == Mode::filter) {
        const bool kept = !results_.empty() && results_[0] != "false" && results_[0] != "null";
        if (kept) made_.push_back(record);
        continue;
      }
      if (mode_ == Mode::map && results_.size() != 1)
        return fail(Code::invalid,
                    of_record(i, fmt::format("{} results, but mode map needs one; use mode flatmap",
                                             results_.size())));
      // A record that the program did not change keeps its bytes.
      for (const std::string& result : results_)
        made_.push_back(result == record ? record : batch.arena.copy(result));
    }
    batch.records.swap(made_);
    return {};
  }

 private:
  JqProgram program_;
  Mode mode_;
  std::vector<std::string> results_;
  std::vector<Record> made_;
};

}  // namespace

Result<std::unique_ptr<Operation>> make_jq(const json::object& options) {
  PLIM_TRY(std::string text, program_of(options));
  Mode mode = mode_of(text_option(options, "mode"));
  if (mode == Mode::filter)
    if (auto condition = recognise_condition(text))
      return std::make_unique<NativeFilter>(std::move(condition));
  PLIM_TRY(JqProgram program, JqProgram::compile(text));
  return std::make_unique<Jq>(std::move(program), mode);
}

void check_jq(const json::object& options, std::string_view path, Problems& problems) {
  const bool expr = options.contains("expr"), file = options.contains("file");
  if (expr == file) {
    problems.errors.push_back(fmt::format("{}.expr: needs either expr or file", path));
    return;
  }
  auto made = make_jq(options);
  if (!made)
    problems.errors.push_back(
        fmt::format("{}.{}: {}", path, expr ? "expr" : "file", made.error().message));
}

}  // namespace plim::flow
