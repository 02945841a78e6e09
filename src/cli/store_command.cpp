#include <fmt/format.h>

#include "base/loop.hpp"
#include "base/text.hpp"
#include "cli/commands.hpp"
#include "cli/local_cluster.hpp"
#include "cli/printer.hpp"
#include "kube/paths.hpp"
#include "local/store/maintenance.hpp"

namespace plim::cli {
namespace {

constexpr std::string_view kHidden = "(hidden)";

// A damaged or missing store directory is reported to the user as such, not as an internal error.
Failure store_failure(const Error& error, const std::string& directory) {
  Plm code = error.code == Code::already_exists ? Plm::already_running
             : error.code == Code::not_found    ? Plm::not_running  // and never was
                                                : Plm::store_damaged;
  return Failure{
      .code = code, .exit = exit_code(error.code), .what = error.message, .tried = directory};
}

bool is_secret(const std::string& key, const json::value& object) {
  return key.starts_with("/registry/secrets/") || key.starts_with("/registry/core/secrets/") ||
         kube::text_at(object, "Object.kind") == "Secret";
}

void hide_values(json::value& object, std::string_view field) {
  json::value* data = object.is_object() ? object.as_object().if_contains(field) : nullptr;
  if (data == nullptr || !data->is_object()) return;
  for (auto& [name, value] : data->as_object()) value = kHidden;
}

// The annotation of `kubectl apply` contains a copy of the object, including its data.
void hide_annotations(json::value& object) {
  json::value* meta = object.is_object() ? object.as_object().if_contains("metadata") : nullptr;
  if (meta != nullptr) hide_values(*meta, "annotations");
}

std::string shown(const local::store::Entry& entry, bool show_secrets) {
  auto value = parse_json(*entry.value, entry.key);
  if (!value) return *entry.value;
  if (!show_secrets && is_secret(entry.key, *value)) {
    hide_values(*value, "data");
    hide_values(*value, "stringData");
    hide_annotations(*value);
  }
  return to_json(*value);
}

Outcome<JournalPosition> parse_place(const std::string& text) {
  auto [segment, offset] = cut(text, ':');
  auto first = parse_int<std::uint64_t>(segment), second = parse_int<std::uint64_t>(offset);
  if (first && second) return JournalPosition{.segment = *first, .offset = *second};
  return usage_failure(Plm::bad_flag_value,
                       fmt::format("--repair-to: {} is not SEGMENT:OFFSET", quote(text)));
}

json::value report_json(const local::store::StoreReport& report, const std::string& directory) {
  json::object out{{"directory", directory},
                   {"sound", !report.log.damage.has_value()},
                   {"revision", report.revision},
                   {"objects", report.entries},
                   {"bytes", report.live_bytes},
                   {"snapshotRevision", report.snapshot},
                   {"log",
                    {{"segments", report.log.segments},
                     {"records", report.log.records},
                     {"bytes", report.log.bytes}}}};
  if (report.log.torn) out["torn"] = report.log.torn->describe();
  if (const auto& damage = report.log.damage) {
    out["damage"] = damage->describe();
    out["repairTo"] = fmt::format("{}:{}", damage->at.segment, damage->at.offset);
  }
  return out;
}

Outcome<void> print_report(Context& context, const local::store::StoreReport& report,
                           const std::string& directory) {
  PLIM_CLI_TRY(Printer printer, Printer::from(context));
  if (!printer.wants_table()) return printer.print(report_json(report, directory));
  Table table({{"SOUND"}, {"REVISION"}, {"OBJECTS"}, {"BYTES"}, {"SNAPSHOT"}, {"LOG"}, {"NOTE"}});
  const auto& trouble = report.log.damage ? report.log.damage : report.log.torn;
  table.add({report.log.damage ? "no" : "yes", std::to_string(report.revision),
             std::to_string(report.entries), std::to_string(report.live_bytes),
             std::to_string(report.snapshot), fmt::format("{} records", report.log.records),
             trouble ? trouble->describe() : ""});
  return printer.print_table(table);
}

}  // namespace

Outcome<int> run_store_dump(Context& context) {
  PLIM_CLI_TRY(local::cluster::ClusterDirectories directories, directories_of(context));
  const std::string prefix = context.arguments.empty() ? "" : context.arguments[0];
  const bool keys = context.values.boolean("keys");
  const bool secrets = context.values.boolean("show-secrets");
  Outcome<void> written;
  auto print = [&](const local::store::Entry& entry) {
    if (!written) return;
    std::string line =
        keys ? fmt::format("{} {} {}\n", entry.key, entry.modified, entry.value->size())
             : fmt::format("{} {}\n", entry.key, shown(entry, secrets));
    written = context.world.out.write(line);
  };
  auto report = local::store::dump_store(directories.store(), prefix, print);
  if (!report) return tl::unexpected(store_failure(report.error(), directories.store()));
  PLIM_CLI_CHECK(written);
  if (!report->log.damage) return 0;
  return tl::unexpected(Failure{.code = Plm::store_damaged,
                                .exit = 1,
                                .what = report->log.damage->describe(),
                                .tried = directories.store()});
}

Outcome<int> run_store_verify(Context& context) {
  PLIM_CLI_TRY(local::cluster::ClusterDirectories directories, directories_of(context));
  const std::string directory = directories.store();
  if (const std::string& text = context.values.text("repair-to"); !text.empty()) {
    PLIM_CLI_TRY(JournalPosition place, parse_place(text));
    auto repaired = local::store::repair_store(directory, place);
    if (!repaired) return tl::unexpected(store_failure(repaired.error(), directory));
  }
  auto report = local::store::verify_store(directory);
  if (!report) return tl::unexpected(store_failure(report.error(), directory));
  PLIM_CLI_CHECK(print_report(context, *report, directory));
  if (!report->log.damage) return 0;
  const JournalPosition at = report->log.damage->at;
  return tl::unexpected(
      Failure{.code = Plm::store_damaged,
              .exit = 1,
              .what = report->log.damage->describe(),
              .next = fmt::format("plimsoll store verify --repair-to {}:{} restores revision {}",
                                  at.segment, at.offset, report->revision)});
}

Outcome<int> run_store_compact(Context& context) {
  PLIM_CLI_TRY(local::cluster::ClusterDirectories directories, directories_of(context));
  if (auto pid = local::cluster::holder_of(directories.lock()))
    return tl::unexpected(local_failure(
        fail(Code::already_exists,
             fmt::format("cluster {} is running as process {} and compacts its store itself",
                         directories.name, *pid))));
  if (auto there = local::store::verify_store(directories.store()); !there)
    return tl::unexpected(store_failure(there.error(), directories.store()));
  Loop loop;
  auto compacted = run_to_end(loop, local::store::compact_store(directories.store()));
  if (!compacted) return tl::unexpected(store_failure(compacted.error(), directories.store()));
  auto report = local::store::verify_store(directories.store());
  if (!report) return tl::unexpected(store_failure(report.error(), directories.store()));
  PLIM_CLI_CHECK(print_report(context, *report, directories.store()));
  return 0;
}

}  // namespace plim::cli
