// Flags and examples of the webhook's commands, for the one table of commands.
#pragma once

#include <array>

#include "cli/command.hpp"
#include "cli/servo_flags.hpp"

namespace plim::cli {

inline constexpr Flag kWebhookService{.name = "service",
                                      .metavar = "NAME",
                                      .fallback = "cpu-dev-pod-mutator-svc",
                                      .help = "by which it is called"};
inline constexpr Flag kWebhookSecret{.name = "secret",
                                     .metavar = "NAME",
                                     .fallback = "cpu-dev-webhook-secret",
                                     .help = "that keeps them"};
inline constexpr Flag kWebhookConfigs{.name = "webhook-configs",
                                      .metavar = "NAME,...",
                                      .fallback = "cpu-device-pod-mutator-webhook-config",
                                      .help = "told of it",
                                      .rare = true};

inline constexpr std::array kWebhookCertsExamples{
    Example{"webhook certs", "make them if there are none, or renew what is due"},
    Example{"webhook certs -f deploy/pools/webhook-conf.yaml", "with the configuration"},
    Example{"webhook certs --rotate authority", "all anew; the old authority stays trusted"},
};
inline constexpr std::array kWebhookCertsFlags{
    Flag{.name = "file",
         .letter = 'f',
         .metavar = "FILE",
         .help = "webhook configuration to make if it is missing",
         .live = Live::file},
    kWebhookService,
    kWebhookSecret,
    Flag{.name = "rotate",
         .metavar = "WHAT",
         .fallback = "due",
         .help = "what is due, or one now",
         .choices = "due|serving|authority"},
    kWebhookConfigs,
};

inline constexpr std::array kWebhookExamples{
    Example{"webhook --tls-cert-file /certs/cert.pem --tls-private-key-file /certs/key.pem",
            "as its Deployment does"},
    Example{"webhook --tls-cert-file c.pem --tls-private-key-file k.pem --listen 127.0.0.1:8443",
            "on this machine, to try reviews"},
};
inline constexpr std::array kWebhookFlags{
    Flag{.name = "tls-cert-file",
         .metavar = "FILE",
         .help = "certificate; or tls.crt beside it",
         .live = Live::file},
    Flag{.name = "tls-private-key-file",
         .metavar = "FILE",
         .help = "its key; or tls.key beside it",
         .live = Live::file},
    Flag{.name = "self-signed",
         .type = Type::boolean,
         .fallback = "false",
         .help = "make and renew certificates by itself"},
    Flag{.name = "listen", .metavar = "ADDRESS", .fallback = ":443", .help = "where to serve"},
    Flag{.name = "poolconfigs",
         .metavar = "DIR,...",
         .help = "pool files of all nodes; configmap:NS/NAME",
         .live = Live::directory},
    Flag{.name = "process-starter-path",
         .metavar = "FILE",
         .fallback = "/opt/bin/process-starter",
         .help = "where the starter is"},
    Flag{.name = "starter-delivery",
         .metavar = "HOW",
         .fallback = "hostpath",
         .help = "who mounts the starter",
         .choices = "hostpath|plugin"},
    Flag{.name = "cfs-quotas",
         .metavar = "WHICH",
         .fallback = "all",
         .help = "containers whose cpu limit is set",
         .choices = "all|shared|none"},
    Flag{.name = "smt-width",
         .type = Type::integer,
         .metavar = "N",
         .fallback = "2",
         .help = "threads of a core, for multiThreaded pools"},
    Flag{.name = "unknown-pool",
         .metavar = "HOW",
         .fallback = "warn",
         .help = "requests of pools that no file has",
         .choices = "warn|reject|allow"},
    rarely(kPodNamespaces),
    rarely(kOptuneAppId),
    Flag{.name = "optune-sleeper-img",
         .metavar = "IMAGE",
         .help = "monitor that is added to jobs; OPTUNE_SLEEPER_IMG",
         .rare = true},
    Flag{.name = "self-ip",
         .metavar = "ADDRESS",
         .help = "of the servo, for the monitor; SELF_IP",
         .rare = true},
    kMeasuredContainer,
    Flag{.name = "service",
         .metavar = "NAME",
         .fallback = "cpu-dev-pod-mutator-svc",
         .help = "of self-signed certificates",
         .rare = true},
    Flag{.name = "secret",
         .metavar = "NAME",
         .fallback = "cpu-dev-webhook-secret",
         .help = "of self-signed certificates",
         .rare = true},
    Flag{.name = "lease",
         .metavar = "NAME",
         .fallback = "plimsoll-webhook-certs",
         .help = "of the replica that renews them",
         .rare = true},
    kWebhookConfigs,
};

}  // namespace plim::cli
