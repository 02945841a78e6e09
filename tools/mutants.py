"""The mutants that tools/mutate applies: small faults in the sources, each with the test that must fail because of it.

tests/e2e/tools/mutants_test.py fails if a text is no longer in its file exactly once. Then write the fault as the code is now.
"""
import dataclasses


@dataclasses.dataclass(frozen=True)
class Mutant:
    name: str
    file: str
    text: str  # is in the file exactly once
    instead: str
    # "pools_test Suite.case", a test program and its filter; or "tests/e2e/…_test.py Class.method", which gets build/dev's plimsoll.
    test: str


MUTANTS = [
    # The setter's dry run.
    Mutant("dry-run-writes-cpusets", "src/pools/setter.cpp", "if (writes.empty() || writing_ == Writing::only_look) break;",
           "if (writes.empty() && writing_ == Writing::only_look) break;", "pools_test SetterTest.writes_nothing_when_it_only_looks"),
    Mutant("dry-run-gets-a-writing-setter", "src/pools/daemon.cpp", "options_.dry_run ? Writing::only_look : Writing::allowed",
           "Writing::allowed", "pools_test PoolsDaemonTest.writes_and_registers_nothing_in_a_dry_run"),
    Mutant("dry-run-registers-plugins", "src/pools/daemon.cpp", "if (options_.plugin && !options_.dry_run) plugins_->start();",
           "if (options_.plugin) plugins_->start();", "pools_test PoolsDaemonTest.writes_and_registers_nothing_in_a_dry_run"),

    # UID preconditions of the scheduler.
    Mutant("evict-by-name-only", "src/sched/evictor.cpp", "options.uid = victim->meta.uid;", "",
           "sched_test NamesakeTest.is_not_evicted"),
    Mutant("bind-by-name-only", "src/sched/binder.cpp", "append_json_string(out, meta.uid);", 'append_json_string(out, "");',
           "sched_test NamesakeTest.is_not_bound"),

    # Allocations that the kubelet has not recorded yet.
    Mutant("pending-allocations-never-expire", "src/pools/pool_state.cpp", "now - item.second.since > kPendingKept;", "now - item.second.since > 1000 * kPendingKept;",
           "pools_test PoolStateTest.keeps_what_the_kubelet_could_not_report_yet"),
    Mutant("pending-allocations-expire-at-once", "src/pools/pool_state.cpp", "now - item.second.since > kPendingKept;", "now - item.second.since > kPendingKept / 1000;",
           "pools_test PoolStateTest.keeps_what_the_kubelet_could_not_report_yet"),

    # The kubelet is away.
    Mutant("forget-holdings-without-a-kubelet", "src/pools/daemon.cpp", "told = state_.holdings();", "told.clear();",
           "pools_test PoolsDaemonTest.keeps_exclusive_cpus_while_the_kubelet_is_away"),
    Mutant("expire-allocations-without-a-kubelet", "src/pools/daemon.cpp", "state_.keep_pending(clock_.steady());", "",
           "pools_test PoolsDaemonTest.keeps_an_allocation_until_the_kubelet_could_have_recorded_it"),

    # The container runtime dies.
    Mutant("resend-inventory-of-a-dead-runtime", "src/images/daemon.cpp",
           "while (generation_ == sent && (!up_ || clock_.steady() < due)) {", "while (generation_ == sent && clock_.steady() < due) {",
           "images_test ImagesDaemonTest.resends_no_inventory_while_the_runtime_is_away"),
    Mutant("runtime-stays-up", "src/images/daemon.cpp", "  up_ = false;\n  log_.write", "  log_.write",
           "images_test ImagesDaemonTest.resends_no_inventory_while_the_runtime_is_away"),

    Mutant("stale-inventories-are-used", "src/placement/locality.cpp", "reporter, cycle.now - args.inventory_max_age, later(",
           "reporter, cycle.now - 100 * args.inventory_max_age, later(",
           "placement_test Reporters.are_used_until_their_report_is_too_old"),

    # The publisher for etcd.
    Mutant("etcd-keys-without-lease", "src/images/etcd_publisher.cpp", "co_return co_await client_->put(std::move(puts), lease_);",
           "co_return co_await client_->put(std::move(puts), 0);",
           "images_test EtcdPublisherTest.leaves_nothing_behind_when_it_no_longer_publishes"),
    Mutant("etcd-lease-never-renewed", "src/images/etcd_publisher.cpp", "if (lease_ != 0) {", "if (false) {",
           "images_test EtcdPublisherTest.renews_its_lease"),
    Mutant("etcd-lease-expired-unseen", "src/images/etcd_publisher.cpp",
           "if (*left > std::chrono::seconds(0)) co_return Result<void>();", "co_return Result<void>();",
           "images_test EtcdPublisherTest.puts_everything_again_after_its_lease_has_expired"),
    Mutant("etcd-layers-not-put-again", "src/images/etcd_publisher.cpp", "told_.clear();", "",
           "images_test EtcdPublisherTest.puts_everything_again_after_its_lease_has_expired"),

    # Certificates of the webhook.
    Mutant("certificate-stored-before-told", "src/webhook/certs.cpp",
           "    for (std::size_t i = 0; i < settings_.configurations.size(); ++i) {",
           "    if (out_.done != kube::Renewal::none) PLIM_CO_CHECK(co_await store());\n"
           "    for (std::size_t i = 0; i < settings_.configurations.size(); ++i) {",
           "webhook_test CertKeepingTest.writes_a_new_authority_before_the_certificate_that_it_signed:"
           "CertKeepingTest.keeps_the_certificate_if_the_new_authority_cannot_be_written"),
    Mutant("certificate-served-though-not-stored", "src/webhook/certs.cpp", "      PLIM_CO_CHECK(co_await store());",
           "      (void)co_await store();", "webhook_test CertKeepingTest.hands_out_no_certificate_that_is_not_in_the_secret"),

    # Volumes and tokens of running pods.
    Mutant("volumes-never-refreshed", "src/local/kubelet/runtime/pod_sandbox.cpp", "if (pod_.node.clock.steady() < refresh_at_) co_return;",
           "co_return;", "local_kubelet_test PodRefresh.writes_a_changed_config_map_within_a_minute"),
    Mutant("no-wake-up-to-refresh-volumes", "src/local/kubelet/runtime/pod_worker.cpp",
           "SteadyTime wake = std::min(sandbox_.refresh_at(), resizer_.retry_at());", "SteadyTime wake = resizer_.retry_at();",
           "local_kubelet_test PodRefresh.writes_a_changed_config_map_within_a_minute"),
    Mutant("tokens-never-renewed", "src/local/kubelet/runtime/pod_sandbox.cpp",
           "const bool keep_tokens = !sources_.tokens.empty() && now < tokens_until_;",
           "const bool keep_tokens = !sources_.tokens.empty();", "local_kubelet_test PodRefresh.replaces_a_token_before_it_expires"),

    # Client certificates that change: of a credential plugin, and in the files of the agent.
    Mutant("refused-certificate-not-read-again", "src/agent/pod_fetch.cpp", "if (answer->status == 401) client_.reset();", "",
           "agent_test KubernetesSourceTest.reads_its_certificate_again_when_the_old_one_is_refused"),
    Mutant("first-client-certificate-forever", "src/kube/client.cpp", "identity.generation != tls_generation_", "tls_generation_ == 0",
           "kube_test ClientTlsTest.uses_the_certificate_a_plugin_prints_and_changes_it_with_the_next"),
    Mutant("old-connection-after-a-new-client-certificate", "src/net/client.cpp",
           "    PLIM_TRY(destination_.tls, TlsContext::for_client(tls));\n    close_idle();",
           "    PLIM_TRY(destination_.tls, TlsContext::for_client(tls));",
           "net_test Tls.a_new_client_certificate_is_presented_from_the_next_request"),

    # `plimsoll store dump` hides Secrets.
    Mutant("dump-shows-data-of-secrets", "src/cli/store_command.cpp", 'hide_values(*value, "data");', "",
           "tests/e2e/local/start_test.py Remembering.test_secrets_are_hidden_in_dumps"),
    Mutant("dump-shows-last-applied-secrets", "src/cli/store_command.cpp", 'hide_values(*meta, "annotations");', 'hide_values(*meta, "labels");',
           "tests/e2e/local/start_test.py Remembering.test_secrets_are_hidden_in_dumps"),

    # Time-outs of the client.
    Mutant("idle-connections-stay-open", "src/net/client.cpp", "if (idle_.size() == 1) idle_alarm_.arm(options_.idle_timeout);", "",
           "net_test ClientClock.closes_pooled_connections_that_were_idle_too_long"),
    Mutant("no-time-out-of-connecting", "src/net/client.cpp", "Millis limit = std::min(left, options_.connect_timeout);", "Millis limit = left;",
           "net_test ClientClock.gives_a_connection_up_before_the_request_is_over"),

    # Children of exec.
    Mutant("cancelled-exec-runs-on", "src/flow/exec_child.cpp",
           'if (talk.is_cancelled()) return fail(Code::cancelled, "the slice was cancelled");', "",
           "flow_test Exec.a_cancelled_slice_kills_the_program_and_what_it_started"),
    Mutant("exec-leaves-grandchildren", "src/flow/exec_child.cpp", "  ::kill(-pid_, SIGKILL);\n  while", "  ::kill(pid_, SIGKILL);\n  while",
           "flow_test Exec.a_cancelled_slice_kills_the_program_and_what_it_started"),

    # The ledger cannot be written.
    Mutant("act-without-the-ledger", "src/flow/controller.cpp", "    if (write_down()) act();\n    update_progress();\n    observer_",
           "    (void)write_down();\n    act();\n    update_progress();\n    observer_",
           "flow_test LocalRunTest.a_slice_that_is_not_in_the_ledger_is_not_handed_out"),
    Mutant("show-results-without-the-ledger", "src/flow/controller.cpp", "      storage_waits_ = true;\n      return false;",
           "      storage_waits_ = true;\n      return true;", "flow_test LocalRunTest.a_result_that_is_not_in_the_ledger_is_not_shown"),

    # Roles of a local cluster that end.
    Mutant("roles-restart-without-a-pause", "src/roles/role_children.cpp", "const Nanos pause = child->renew ? Nanos(0) : backoff.next();",
           "const Nanos pause{0};", "roles_test RoleChildrenTest.a_role_that_ends_is_started_again_after_a_longer_wait_each_time"),
    Mutant("roles-wait-longer-after-a-good-run", "src/roles/role_children.cpp",
           "if (clock_.steady() - began > kStable) backoff.reset();", "if (clock_.steady() - began > 1000 * kStable) backoff.reset();",
           "roles_test RoleChildrenTest.a_role_that_ran_for_a_while_is_started_again_soon"),
]
