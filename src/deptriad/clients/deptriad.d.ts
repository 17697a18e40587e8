/** What a person answers to an attribute: a declared value, its label, a number for bins, null where there is none. */
export type Value = string | number | boolean | null;

/** The report to send to a collector. */
export interface Report {
  format: "deptriad report";
  version: 1;
  /** The fingerprint of what the plan asks. */
  plan: string;
  /** 32 random hexadecimal digits of this report alone. */
  id: string;
  /** Which view was asked, counted from 1. */
  view: number;
  /** The perturbed answers: what each column of a file of reports would hold. */
  answers: Record<string, string>;
}

export interface Attribute {
  readonly name: string;
  /** What its values are called, in the order of their codes. */
  readonly values: readonly string[];
  readonly categories?: readonly (string | number | boolean)[];
  readonly edges?: readonly number[];
  /** The code of each category or bin, where some are grouped or called otherwise. */
  readonly codes?: readonly number[];
  readonly missing: "category" | "other" | "error";
  readonly unseen: "error" | "other";
}

export interface Survey {
  /** The fingerprint of what the plan asks. */
  readonly fingerprint: string;
  /** All attributes of the plan. */
  readonly schema: readonly Attribute[];
  /** The names of the attributes that each view asks, the first view first. */
  readonly views: readonly (readonly string[])[];
  /** Draw which view to ask, counted from 1. Draw once for each person, and keep it. */
  draw(): number;
  /** Perturb a record into the report to send. Make one for each person, and send that again where sending failed. */
  report(record: Record<string, Value>, view?: number): Report;
  /** What given words make of a record: for tests against the vectors, and no report to send. */
  fromWords(record: Record<string, Value>, words: readonly bigint[]): {
    view: number;
    answers: Record<string, string>;
    used: number;
  };
}

/**
 * Open a plan: the text of its file, or, where no signature is asked for, the object in it.
 *
 * `signature` is the text of plan.json.sig, `key` a public key (PEM); a key that `deptriad client --key` has put into the
 * script comes first. Rejects a plan of another version, and one whose signature is missing or does not fit.
 */
export function open(plan: string | object, options?: { signature?: string; key?: string }): Promise<Survey>;
