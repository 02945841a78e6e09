// flow validate, flow ops.
#include <thread>

#include <fmt/format.h>

#include "cli/commands.hpp"
#include "cli/flow_jobs.hpp"
#include "cli/printer.hpp"

namespace plim::cli {
namespace {

json::object option_json(const flow::Option& option) {
  json::object out{{"name", option.name},
                   {"type", flow::type_name(option.type)},
                   {"required", option.required},
                   {"help", option.help}};
  if (!option.fallback.empty()) out["default"] = *parse_json(option.fallback);
  if (!option.choices.empty()) {
    json::array choices;
    for (std::string_view one : split_choices(option.choices)) choices.emplace_back(one);
    out["choices"] = std::move(choices);
  }
  return out;
}

json::object op_json(const flow::OpEntry& entry) {
  json::array options;
  for (const flow::Option& option : entry.options) options.push_back(option_json(option));
  return {{"name", entry.name},
          {"kind", flow::kind_name(entry.kind)},
          {"summary", entry.summary},
          {"options", std::move(options)}};
}

Table ops_table() {
  Table table({{"NAME"}, {"KIND"}, {"SUMMARY"}, {"ALSO KNOWN AS", Table::Shown::wide}});
  for (const flow::OpEntry& entry : flow::op_table())
    table.add({entry.name, flow::kind_name(entry.kind), entry.summary, entry.aliases});
  return table;
}

Table options_table(const flow::OpEntry& entry) {
  Table table({{"OPTION"}, {"TYPE"}, {"DEFAULT"}, {"MEANING"}});
  for (const flow::Option& option : entry.options) {
    std::string type(option.choices.empty() ? flow::type_name(option.type) : option.choices);
    table.add({option.name, type, option.required ? "(required)" : option.fallback, option.help});
  }
  return table;
}

}  // namespace

Outcome<std::optional<flow::Job>> read_job(Context& context, const std::string& path) {
  auto posted = flow::read_job_file(path);
  if (!posted && posted.error().code == Code::invalid)
    return usage_failure(Plm::wrong_arguments, posted.error().message,
                         "a job file is JSON or YAML");
  if (!posted) {
    Failure failure = file_failure(Plm::cannot_read, posted.error());
    failure.exit = kUnusableJob;
    return tl::unexpected(std::move(failure));
  }
  flow::CheckedJob checked =
      flow::check_job(*posted, std::max(1u, std::thread::hardware_concurrency()));
  if (!context.values.boolean("quiet"))
    for (const std::string& warning : checked.problems.warnings)
      (void)context.world.err.write(fmt::format("warning: {}\n", warning));
  if (!checked.job) (void)context.world.err.write(checked.describe_errors());
  return std::move(checked.job);
}

Outcome<int> run_flow_validate(Context& context) {
  PLIM_CLI_TRY(std::optional<flow::Job> job, read_job(context, context.arguments[0]));
  if (!job) return kUnusableJob;
  flow::Guarantee guarantee = flow::guarantee_of(*job);
  std::string text =
      guarantee.exactly_once
          ? fmt::format("{}: this job: exactly-once ({})\n", job->name, guarantee.reason)
          : fmt::format("{}: this job: at-least-once because of {}\n", job->name, guarantee.reason);
  PLIM_CLI_CHECK(context.world.out.write(text));
  return 0;
}

Outcome<int> run_flow_ops(Context& context) {
  PLIM_CLI_TRY(Printer printer, Printer::from(context));
  if (context.arguments.empty()) {
    if (printer.wants_table()) {
      PLIM_CLI_CHECK(printer.print_table(ops_table()));
      return 0;
    }
    json::array all;
    for (const flow::OpEntry& entry : flow::op_table()) all.push_back(op_json(entry));
    PLIM_CLI_CHECK(printer.print(all));
    return 0;
  }
  const std::string& name = context.arguments[0];
  const flow::OpEntry* entry = flow::find_op(name);
  if (entry == nullptr)
    return tl::unexpected(
        Failure{.code = Plm::not_found,
                .exit = 4,
                .what = fmt::format("unknown operation {}", name),
                .next = fmt::format("the nearest are {}", fmt::join(flow::nearest_ops(name), ", ")),
                .shape = Failure::Shape::three_lines});
  if (!printer.wants_table()) {
    PLIM_CLI_CHECK(printer.print(op_json(*entry)));
    return 0;
  }
  PLIM_CLI_CHECK(context.world.out.write(
      fmt::format("{}, a {}: {}\n", entry->name, flow::kind_name(entry->kind), entry->summary)));
  if (!entry->options.empty()) PLIM_CLI_CHECK(printer.print_table(options_table(*entry)));
  return 0;
}

}  // namespace plim::cli
