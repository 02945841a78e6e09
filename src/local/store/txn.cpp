#include "local/store/txn.hpp"

#include <memory>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "base/wire.hpp"

namespace plim::local::store {
namespace {

Result<void> check(const Compare& compare, const Tree& tree) {
  const EntryPtr found = tree.find(compare.key);
  if (compare.modified == 0) {
    if (!found) return {};
    return fail(Code::already_exists, fmt::format("{} exists already", compare.key));
  }
  if (!found) return fail(Code::not_found, fmt::format("{} does not exist", compare.key));
  if (found->modified == compare.modified) return {};
  return fail(Code::conflict, fmt::format("{} is at revision {}, not {}", compare.key,
                                          found->modified, compare.modified));
}

}  // namespace

Result<Applied> apply(const Txn& txn, const Tree& tree, std::uint64_t live_bytes,
                      Revision revision) {
  for (const Compare& compare : txn.compares) PLIM_CHECK(check(compare, tree));
  Applied out{.tree = tree, .changes = {}, .live_bytes = live_bytes};
  std::unordered_set<std::string_view> keys;
  for (const Op& op : txn.ops) {
    if (!keys.insert(op.key).second)
      return fail(Code::invalid, fmt::format("{} occurs twice in a transaction", op.key));
    auto change = std::make_shared<Change>();
    change->revision = revision;
    change->before = out.tree.find(op.key);
    if (change->before) out.live_bytes -= change->before->footprint();
    if (op.kind == Op::Kind::put) {
      auto entry = std::make_shared<Entry>();
      entry->key = op.key;
      entry->value = op.value;
      entry->created = change->before ? change->before->created : revision;
      entry->modified = revision;
      entry->version = change->before ? change->before->version + 1 : 1;
      out.live_bytes += entry->footprint();
      change->now = std::move(entry);
      out.tree = out.tree.with(change->now);
    } else {
      if (!change->before) return fail(Code::not_found, fmt::format("{} does not exist", op.key));
      out.tree = out.tree.without(op.key);
    }
    out.changes.push_back(std::move(change));
  }
  return out;
}

std::string encode_txn(const std::vector<Op>& ops, Revision revision) {
  std::string out;
  std::size_t size = 16;
  for (const Op& op : ops) size += 9 + op.key.size() + (op.value ? op.value->size() : 0);
  out.reserve(size);
  put_number(out, revision);
  put_number(out, static_cast<std::uint32_t>(ops.size()));
  for (const Op& op : ops) {
    put_number(out, static_cast<std::uint8_t>(op.kind));
    put_bytes(out, op.key);
    if (op.kind == Op::Kind::put) put_bytes(out, *op.value);
  }
  return out;
}

Result<LoggedTxn> decode_txn(std::string_view record) {
  WireReader in(record);
  LoggedTxn out;
  out.revision = in.number<Revision>();
  const auto count = in.number<std::uint32_t>();
  for (std::uint32_t i = 0; i < count && in.ok(); ++i) {
    const auto kind = in.number<std::uint8_t>();
    std::string key(in.bytes());
    if (kind == static_cast<std::uint8_t>(Op::Kind::put))
      out.txn.ops.push_back(Op::put(std::move(key), std::make_shared<std::string>(in.bytes())));
    else if (kind == static_cast<std::uint8_t>(Op::Kind::del))
      out.txn.ops.push_back(Op::del(std::move(key)));
    else
      return fail(Code::invalid, fmt::format("unknown operation {}", kind));
  }
  if (!in.at_end() || out.txn.ops.empty()) return fail(Code::invalid, "malformed transaction");
  return out;
}

Result<std::optional<Applied>> replay(std::string_view record, const View& view,
                                      std::uint64_t live_bytes) {
  PLIM_TRY(const LoggedTxn logged, decode_txn(record));
  if (logged.revision <= view.revision()) return std::optional<Applied>();
  if (logged.revision != view.revision() + 1)
    return fail(Code::internal,
                fmt::format("revision {} follows {}", logged.revision, view.revision()));
  PLIM_TRY(Applied applied, apply(logged.txn, view.tree(), live_bytes, logged.revision));
  return std::optional<Applied>(std::move(applied));
}

}  // namespace plim::local::store
