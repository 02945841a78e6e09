#include "local/apiserver/api/reads.hpp"

#include <fmt/format.h>

#include "local/apiserver/api/object_bytes.hpp"

namespace plim::local::apiserver {
namespace {

constexpr Nanos kWaitForRevision = std::chrono::seconds(3);

struct Source {
  store::View view;
  std::string start;  // key of the first entry
};

ApiError expired(store::Revision revision, std::string fresh_token) {
  return {.code = 410,
          .reason = "Expired",
          .message = fmt::format(
              "The provided continue parameter is too old to display a consistent list result. "
              "Revision {} is no longer kept; start a new list, or use the continue token of this "
              "answer for an inconsistent one",
              revision),
          .continue_token = std::move(fresh_token)};
}

// The view for these options, if it exists already.
ApiResult<Source> source_of(const Core& core, const ReadOptions& options) {
  if (!options.continue_token.empty()) {
    PLIM_TRY(ContinueToken token, decode_continue(options.continue_token));
    const std::string start = options.selection.prefix() + token.start;
    auto view = core.store.view_at(token.revision);
    if (view) return Source{std::move(*view), start};
    return expired(token.revision, encode_continue({core.store.view().revision(), token.start}));
  }
  // With a limit the revision is exact, as in upstream's paged lists from etcd.
  const bool exact = options.match == ReadOptions::Match::exact ||
                     (options.match == ReadOptions::Match::unset && options.limit > 0 &&
                      options.revision.value_or(0) > 0);
  if (!exact) return Source{core.store.view(), ""};
  auto view = core.store.view_at(*options.revision);
  if (view) return Source{std::move(*view), ""};
  return ApiError{.code = 410,
                  .reason = "Expired",
                  .message = fmt::format("The resourceVersion for the provided list is too old: {}",
                                         *options.revision)};
}

ApiError too_large_resource_version(store::Revision wanted, store::Revision newest) {
  const Cause cause{"ResourceVersionTooLarge", "Too large resource version", ""};
  return {.code = 504,
          .reason = "Timeout",
          .message =
              fmt::format("Timeout: Too large resource version: {}, current: {}", wanted, newest),
          .details = ErrorDetails{.causes = {cause}, .retry_after = 1}};
}

void collect_matching(const store::View& view, const Selection& selection, std::string_view start,
                      std::size_t limit, ListResult& out) {
  const std::string& prefix = selection.prefix();
  auto visit = [&](const store::EntryPtr& entry) {
    if (!entry->key.starts_with(prefix)) return false;
    if (!selection.matches(*entry->value)) return true;
    if (limit > 0 && out.entries.size() == limit) {
      out.continue_token = encode_continue({view.revision(), entry->key.substr(prefix.size())});
      return false;
    }
    out.entries.push_back(entry);
    return true;
  };
  view.tree().scan(start.empty() ? std::string_view(prefix) : start, visit);
}

void collect_all(const store::View& view, const Selection& selection, std::string_view start,
                 std::size_t limit, ListResult& out) {
  const std::string& prefix = selection.prefix();
  store::Page page = view.list(prefix, start, limit == 0 ? store::View::kNoLimit : limit);
  out.entries = std::move(page.entries);
  if (page.remaining == 0) return;
  out.remaining = page.remaining;
  std::string next = out.entries.back()->key.substr(prefix.size());
  next += '\0';
  out.continue_token = encode_continue({view.revision(), std::move(next)});
}

}  // namespace

ApiResult<store::EntryPtr> find_entry(const Core& core, const Kind& kind, std::string_view ns,
                                      std::string_view name) {
  store::EntryPtr entry = core.store.get(kind.key(ns, name));
  if (!entry) return not_found(kind, name);
  return entry;
}

Task<ApiResult<void>> Reader::wait_for(store::Revision revision) {
  if (revision <= core_.store.view().revision()) co_return ApiResult<void>();
  const SteadyTime deadline = core_.clock.steady() + kWaitForRevision;
  const bool there = co_await core_.store.wait_for(revision, deadline);
  if (!there) co_return too_large_resource_version(revision, core_.store.view().revision());
  co_return ApiResult<void>();
}

Task<ListResult> Reader::select(Selection selection) {
  const bool by_node = selection.prefix().starts_with("/registry/core/pods/") &&
                       !selection.required("spec.nodeName").empty();
  if (by_node) co_await pods_by_node_.catch_up();
  // No co_await from here on: the index matches this view.
  const store::View view = core_.store.view();
  ListResult out{.revision = view.revision()};
  if (selection.is_one_object()) {
    store::EntryPtr entry = view.get(selection.prefix());
    if (entry && selection.matches(*entry->value)) out.entries.push_back(std::move(entry));
  } else if (by_node) {
    // The view has every key of the index.
    for (const std::string& key : pods_by_node_.on_node(selection.required("spec.nodeName"))) {
      store::EntryPtr entry = view.get(key);
      if (key.starts_with(selection.prefix()) && selection.matches(*entry->value))
        out.entries.push_back(std::move(entry));
    }
  } else {
    auto visit = [&](const store::EntryPtr& entry) {
      if (!entry->key.starts_with(selection.prefix())) return false;
      if (selection.matches(*entry->value)) out.entries.push_back(entry);
      return true;
    };
    view.tree().scan(selection.prefix(), visit);
  }
  co_return out;
}

Task<ApiResult<ListResult>> Reader::list(ReadOptions options) {
  PLIM_CO_CHECK(co_await wait_for(options.revision.value_or(0)));
  // Informers expect the whole list in one response here.
  const bool any_revision = options.revision == store::Revision{0};
  const std::size_t limit = any_revision ? 0 : options.limit;
  const bool newest =
      options.continue_token.empty() && limit == 0 && options.match != ReadOptions::Match::exact;
  if (newest && !options.selection.is_everything())
    co_return co_await select(std::move(options.selection));
  PLIM_CO_TRY(Source source, source_of(core_, options));
  ListResult out{.revision = source.view.revision()};
  if (options.selection.is_one_object()) {
    store::EntryPtr entry = source.view.get(options.selection.prefix());
    if (entry && options.selection.matches(*entry->value)) out.entries.push_back(entry);
  } else if (options.selection.is_everything()) {
    collect_all(source.view, options.selection, source.start, limit, out);
  } else {
    collect_matching(source.view, options.selection, source.start, limit, out);
  }
  co_return out;
}

json::object list_metadata(const ListResult& list) {
  json::object out{{"resourceVersion", std::to_string(list.revision)}};
  if (!list.continue_token.empty()) out["continue"] = list.continue_token;
  if (list.remaining) out["remainingItemCount"] = *list.remaining;
  return out;
}

std::string encode_list(const Kind& kind, const ListResult& list) {
  std::size_t size = 256;
  for (const store::EntryPtr& entry : list.entries) size += entry->value->size();
  std::string out;
  out.reserve(size);
  out += fmt::format(R"({{"kind":"{}","apiVersion":"{}","metadata":)", kind.list_kind,
                     kind.api_version);
  json::object metadata = list_metadata(list);
  if (kind.rules) metadata.emplace("continue", "");  // as upstream for kinds without a schema
  out += to_json(metadata);
  out += R"(,"items":[)";
  bool first = true;
  for (const store::EntryPtr& entry : list.entries) {
    if (!std::exchange(first, false)) out += ',';
    if (kind.rules)
      append_object(out, kind, *entry->value);
    else
      append_item(out, kind, *entry->value);
  }
  out += "]}";
  return out;
}

}  // namespace plim::local::apiserver
